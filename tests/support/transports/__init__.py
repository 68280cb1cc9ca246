"""Platforms that carry messages: real servers, and stand-ins for those that cannot be reached."""
