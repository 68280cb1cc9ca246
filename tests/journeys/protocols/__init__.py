"""Tests that every protocol gives the same result."""
