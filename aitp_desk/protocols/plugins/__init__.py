"""The addresses of capabilities: webhooks, redirects, schemas and documents."""
