"""Settings of authentication, permissions and limits."""
