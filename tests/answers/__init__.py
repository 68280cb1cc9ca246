"""Measures how well the desk answers labelled questions."""
