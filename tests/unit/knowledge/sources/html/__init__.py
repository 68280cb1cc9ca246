"""Tests of HTML content."""
