"""Reads of keys, clients, grants and revocations."""
