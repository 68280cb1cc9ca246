"""Units of work for erasure, retention, sealed values and restoration."""
