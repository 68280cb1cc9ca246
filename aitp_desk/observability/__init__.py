"""Logs, spans and figures."""
