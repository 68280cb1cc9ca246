"""Tests of the dialogue with a visitor."""
