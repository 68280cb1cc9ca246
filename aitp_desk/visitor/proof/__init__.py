"""What a visitor signs: its requests, and the record of its visit."""
