"""Tests of API keys, signed requests and addresses."""
