"""Builds prompts, obeys every instruction in them and judges the result."""
