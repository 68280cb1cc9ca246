"""Tests of content types and feeds over AHP."""
