"""The operators' console: tickets, live conversations, and replies to them."""
