"""Conversations on the operators' pages."""
