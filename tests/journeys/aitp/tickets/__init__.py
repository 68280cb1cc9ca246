"""Tests of tickets and takeover by operators."""
