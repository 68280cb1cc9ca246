"""Tests of the agents and what each must keep to."""
