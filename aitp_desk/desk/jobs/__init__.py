"""Work that is done after the answer: queued, scheduled, retried."""
