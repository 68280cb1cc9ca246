"""Reading the arguments of an action out of a visitor's words, by its schema and without a model.

Whoever is not sure asks: a value that the words do not say, or say in two ways, is missing, and
never guessed. :func:`~aitp_desk.agent.slots.filler.fill_arguments` is the way in.
"""
