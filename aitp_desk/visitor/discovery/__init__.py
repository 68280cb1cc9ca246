"""What a site speaks, from the documents that it serves."""
