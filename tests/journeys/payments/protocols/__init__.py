"""Tests of payment over each protocol."""
