"""Values of threads, runs, tickets and transcripts."""
