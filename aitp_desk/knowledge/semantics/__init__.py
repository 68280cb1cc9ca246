"""Meaning: vectors of passages and questions, which find what is said in other words."""
