"""Tests of pages as HTML and Markdown."""
