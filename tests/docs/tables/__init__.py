"""Reads the tables of the documentation as data."""
