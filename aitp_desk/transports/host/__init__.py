"""What the desk does for all transports: events in, messages out, conversations and people."""
