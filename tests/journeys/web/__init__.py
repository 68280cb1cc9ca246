"""Tests of pages, the console and export."""
