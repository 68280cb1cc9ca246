"""Tests of `aitp-desk enrich`."""
