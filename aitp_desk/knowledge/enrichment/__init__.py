"""Reads a model's questions for each passage, and the quotations that answer them.

They are in ``enriched.jsonl`` in the content folder, are read without network or key, and are used
only to find passages: no text of the model is ever shown.
"""
