"""Tests of AITP-03: forms, sealed values and profiles."""
