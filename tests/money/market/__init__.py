"""A desk that sells, its payers and its store."""
