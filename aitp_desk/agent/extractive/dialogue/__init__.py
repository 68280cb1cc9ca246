"""What a conversation adds to a question: follow-ups, courtesies, choices, asking back."""
