"""Tests of payments by x402."""
