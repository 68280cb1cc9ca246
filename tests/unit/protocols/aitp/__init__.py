"""Tests of AITP's wire format."""
