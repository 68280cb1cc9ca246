"""Tests of the values of the model."""
