"""Tests of stored jobs."""
