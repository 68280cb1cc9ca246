"""Formats that several platforms share: marks, payloads, uploads."""
