"""Tests of Web Bot Auth."""
