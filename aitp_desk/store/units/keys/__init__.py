"""Units of work on keys, tokens and clients."""
