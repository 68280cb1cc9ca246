"""Tests of the AITP APIs: threads, runs, tickets and transcripts."""
