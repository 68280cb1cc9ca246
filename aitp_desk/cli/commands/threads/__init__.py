"""Commands for tickets, transcripts and erasure."""
