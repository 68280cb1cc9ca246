"""The desk as buyer: automatic payments, decisions of people, and results."""
