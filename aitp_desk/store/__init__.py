"""A durable store of threads and what belongs to them; ``base.py`` states its guarantees."""
