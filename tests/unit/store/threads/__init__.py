"""Tests of stored threads."""
