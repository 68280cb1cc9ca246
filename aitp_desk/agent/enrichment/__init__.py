"""Has a model write what visitors may ask of each passage, through the Messages API."""
