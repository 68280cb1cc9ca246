"""Injected instructions: a corpus, a model that obeys them all, and a desk that they meet."""
