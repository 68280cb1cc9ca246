"""The ways in: a mail server, a pipe, a mailbox, and webhooks of mail providers."""
