"""The way out: mails to a mail server, by SMTP."""
