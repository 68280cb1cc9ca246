"""Tests of the index and its files."""
