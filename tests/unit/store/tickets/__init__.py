"""Tests of stored tickets."""
