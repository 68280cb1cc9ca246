"""Servers that tests start, and what befalls them."""
