"""Tests of the AITP APIs with the OpenAI SDK."""
