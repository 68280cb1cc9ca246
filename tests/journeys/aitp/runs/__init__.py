"""Tests of runs over the Runs API."""
