"""Builds and reads the index, a file in the desk's data folder."""
