"""OAuth 2.0: access tokens for clients, their registration, and what is told of both."""
