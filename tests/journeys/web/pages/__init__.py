"""Tests of pages as browsers and agents read them."""
