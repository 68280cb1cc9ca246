"""Background jobs: queued, scheduled and retried."""
