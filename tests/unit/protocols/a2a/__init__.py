"""Tests of A2A's wire format."""
