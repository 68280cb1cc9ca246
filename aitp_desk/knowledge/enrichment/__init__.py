"""Reads the questions that a model wrote for each passage, and the quotes that answer them.

They are in ``enriched.jsonl`` in the content folder, are read without network or key, and are used
only to find passages: no text of the model is ever shown.
"""
