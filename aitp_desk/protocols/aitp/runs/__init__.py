"""Runs over the OpenAI API's addresses."""
