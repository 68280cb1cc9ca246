"""Access control: scopes, idempotency, sealed values and the audit log."""
