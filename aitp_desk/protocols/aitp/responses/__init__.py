"""The OpenAI API's Responses, over threads and runs."""
