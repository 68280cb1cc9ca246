"""Tests of the panel that shows how answers were found."""
