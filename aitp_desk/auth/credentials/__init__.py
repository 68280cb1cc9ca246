"""The proofs of identity that a request can carry."""
