"""Tests of the protocols as bytes and values."""
