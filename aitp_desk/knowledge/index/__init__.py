"""The index: a file made from the content, beside the desk's data."""
