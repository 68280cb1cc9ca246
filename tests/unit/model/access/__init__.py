"""Tests of access rules, principals and scopes."""
