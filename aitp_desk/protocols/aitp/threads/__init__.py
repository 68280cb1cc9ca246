"""Threads and what stands on them, over AITP's addresses."""
