"""Tests of the operators' console."""
