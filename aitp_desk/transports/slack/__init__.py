"""Slack: app mentions, direct messages, threads, buttons, forms and a slash command."""
