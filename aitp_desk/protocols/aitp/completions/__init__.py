"""The OpenAI API's Chat Completions, over threads and runs."""
