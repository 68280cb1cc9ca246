"""What the desk writes: a message as a mail, with a text and an HTML part."""
