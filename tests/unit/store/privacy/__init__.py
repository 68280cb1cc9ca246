"""Tests of erasure and the audit log."""
