"""Tests of stored keys, clients and nonces."""
