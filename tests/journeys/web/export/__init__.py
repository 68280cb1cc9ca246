"""Tests of exported sites and snippets."""
