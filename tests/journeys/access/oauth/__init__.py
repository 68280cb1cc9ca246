"""Tests of OAuth clients, metadata and tokens."""
