"""Tests of AITP-02: requests for decisions."""
