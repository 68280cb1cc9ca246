"""Who may do what: scopes, idempotency, sealed values, the audit log."""
