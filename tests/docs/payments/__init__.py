"""Tests of the documentation of payments."""
