"""Tests of the desk as a buyer."""
