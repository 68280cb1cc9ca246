"""Tests of actions that are called over AHP."""
