"""Webhooks of mail providers: each proves itself, and brings a mail as it was received."""
