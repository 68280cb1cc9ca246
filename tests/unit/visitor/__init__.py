"""Tests of the visitor's parts."""
