"""Telegram: the Bot API, by webhook or long polling."""
