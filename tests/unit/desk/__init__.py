"""Tests of the desk's services."""
