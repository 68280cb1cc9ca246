"""Tests of the operators' console in a browser."""
