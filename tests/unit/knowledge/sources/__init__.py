"""Tests of content files and their readers."""
