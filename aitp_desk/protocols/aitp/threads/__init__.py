"""Threads, and their messages, actors, grants and requests, at AITP's addresses."""
