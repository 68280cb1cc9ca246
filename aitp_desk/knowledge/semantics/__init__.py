"""Finds passages by meaning, with vectors of passages and questions."""
