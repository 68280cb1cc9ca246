"""Tests of runs and their steps."""
