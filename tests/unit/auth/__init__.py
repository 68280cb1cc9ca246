"""Tests of credentials and the identity of callers."""
