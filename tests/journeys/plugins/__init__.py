"""Tests of capabilities as plug-in packages."""
