"""Composition root: turns a configuration into a running desk."""
