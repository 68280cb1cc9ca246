"""AITP 0.1: threads and messages over HTTP, in the manner of the OpenAI Threads API."""
