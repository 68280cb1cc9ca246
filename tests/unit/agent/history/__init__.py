"""Tests of the message history that an agent receives."""
