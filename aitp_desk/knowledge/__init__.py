"""What the site knows: its content as documents and passages, found by a full-text index."""
