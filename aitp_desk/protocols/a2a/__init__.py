"""A2A: tasks over JSON-RPC and over plain HTTP, in versions 1.0 and 0.3."""
