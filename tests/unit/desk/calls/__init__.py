"""Tests of calls of actions."""
