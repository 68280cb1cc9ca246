"""Tests of AHP: discovery, questions, sessions and actions."""
