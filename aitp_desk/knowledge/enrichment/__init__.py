"""Questions that a model wrote for each passage once, and the quotes that answer them.

They lie in ``enriched.jsonl`` in the content folder, are read without network or key, and are used
to find passages only: nothing of what the model wrote is ever shown.
"""
