"""Tests of the agent that uses Claude."""
