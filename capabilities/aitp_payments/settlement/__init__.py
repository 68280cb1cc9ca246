"""The lifecycle of a payment, from its start to a signed confirmation."""
