"""Tests of what the protocols share."""
