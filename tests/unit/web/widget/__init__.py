"""The chat component: its colours and its settings."""
