"""Tests of the agent that quotes the content."""
