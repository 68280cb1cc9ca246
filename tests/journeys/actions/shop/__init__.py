"""Tests of the example shop's actions."""
