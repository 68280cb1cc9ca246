"""Tests of AITP-04: operations messages and peers."""
