"""The structured parts of messages that plugins read and write."""
