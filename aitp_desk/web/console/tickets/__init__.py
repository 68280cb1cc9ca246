"""Tickets on the operators' pages."""
