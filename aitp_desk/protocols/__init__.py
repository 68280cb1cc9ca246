"""Protocols: each package translates one protocol to and from the desk."""
