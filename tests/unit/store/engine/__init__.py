"""Tests of engines, statements and migrations."""
