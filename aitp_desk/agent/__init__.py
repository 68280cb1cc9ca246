"""Agents that answer: the interface, extraction, and models."""
