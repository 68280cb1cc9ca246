"""Agents that sign their requests (Web Bot Auth, RFC 9421)."""
