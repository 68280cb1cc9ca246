"""Handles follow-ups, courtesies, choices and clarifying questions."""
