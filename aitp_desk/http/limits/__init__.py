"""Limits on connections, bodies and unsent responses."""
