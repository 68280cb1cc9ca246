"""Tests of arguments that are read from words."""
