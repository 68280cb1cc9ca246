"""Tests that secrets are stored safely and never leak."""
