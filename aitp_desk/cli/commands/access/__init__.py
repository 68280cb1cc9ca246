"""Commands for API keys, OAuth clients, the master key and the audit log."""
