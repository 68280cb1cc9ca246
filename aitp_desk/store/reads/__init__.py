"""Reads: one bounded, indexed look each."""
