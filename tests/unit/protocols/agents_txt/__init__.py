"""Tests of agents.txt and agents.json."""
