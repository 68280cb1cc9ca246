"""The operators' pages: what waits for people, live conversations, and answers to them."""
