"""Tests of action declaration, loading and calls."""
