"""Tests of OAuth's wire format."""
