"""Tests of words, spelling and stems."""
