"""OAuth 2.0: access tokens for clients, their registration, and the metadata of both."""
