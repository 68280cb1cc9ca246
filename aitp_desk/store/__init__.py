"""A durable store of threads and of what belongs to them; ``base.py`` holds its promises."""
