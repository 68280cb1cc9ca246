"""The chat component: its colours and what it is told."""
