"""Builds and checks the records of a store."""
