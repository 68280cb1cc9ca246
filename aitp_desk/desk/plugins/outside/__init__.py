"""What plugins do besides messages: jobs, webhooks, redirects, health."""
