"""Tests of AHP sessions: clarification, replies and records."""
