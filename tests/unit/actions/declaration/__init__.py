"""Tests of declared actions, questions and resources."""
