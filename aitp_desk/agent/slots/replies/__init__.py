"""Replies to what the desk asked: an answer, a change, a confirmation, a refusal."""
