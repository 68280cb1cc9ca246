"""Utterances and the arguments they hold, as data."""
