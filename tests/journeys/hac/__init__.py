"""Tests of HAC: affordances, errors and discovery."""
