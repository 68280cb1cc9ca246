"""Tests of pages and the console."""
