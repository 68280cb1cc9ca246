"""Tests of AHP's wire format and linter."""
