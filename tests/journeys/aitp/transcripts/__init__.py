"""Tests of signed transcripts."""
