"""Reads replies to the desk's questions: answers, changes, confirmations, refusals."""
