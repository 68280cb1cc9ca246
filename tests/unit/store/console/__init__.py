"""Tests of the operators' lists."""
