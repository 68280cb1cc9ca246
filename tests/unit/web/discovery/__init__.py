"""Tests of the documents about the whole site."""
