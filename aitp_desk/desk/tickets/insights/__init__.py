"""What owners learn from conversations: figures, and questions that wait for a page."""
