"""Tests of tickets and operators."""
