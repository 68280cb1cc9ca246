"""Tests of the desk's own sentences in each language."""
