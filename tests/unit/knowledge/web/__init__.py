"""Tests of content from other websites."""
