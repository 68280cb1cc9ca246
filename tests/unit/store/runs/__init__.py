"""Tests of stored runs."""
