"""Tests of health probes."""
