"""Tests of calls and the secrets in them."""
