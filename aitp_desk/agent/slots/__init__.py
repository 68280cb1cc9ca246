"""Reads an action's arguments from a visitor's text by its schema, without a model.

An uncertain value is asked for: one that the text does not state, or states in two ways, is
missing, and never guessed. The entry point is :func:`~aitp_desk.agent.slots.filler.fill_arguments`.
"""
