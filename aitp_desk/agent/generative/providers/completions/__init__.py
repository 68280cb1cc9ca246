"""Calls models by Chat Completions, as OpenAI and many local servers offer it."""
