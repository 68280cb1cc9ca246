"""Runs at the OpenAI API's addresses."""
