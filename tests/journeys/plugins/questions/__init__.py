"""Tests of questions that the desk asks by capabilities."""
