"""Copies every row of a store into another one, of any engine."""
