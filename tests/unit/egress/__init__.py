"""Tests of outgoing HTTP."""
