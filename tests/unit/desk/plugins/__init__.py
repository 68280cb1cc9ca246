"""Tests of the plug-in registry and its effects."""
