"""Merchants, buyers and payment providers for tests."""
