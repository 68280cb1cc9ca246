"""Tests of credentials, scopes and access."""
