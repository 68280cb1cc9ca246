"""What an answer offers besides its text."""
