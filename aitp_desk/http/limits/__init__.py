"""Bounds on connections, on bodies and on what waits to be sent."""
