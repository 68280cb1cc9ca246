"""AITP 0.1: threads and messages, in the form of the OpenAI Threads API."""
