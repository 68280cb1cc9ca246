"""The life of a payment, from its begin to a signed confirmation."""
