"""One action that does nothing: a call of it costs what the desk does around it."""

from aitp_desk.actions import action


@action(open_to="anyone")
def count_words(words: str) -> int:
    """Counts the words of a text.

    Args:
        words: the text.
    """
    return len(words.split())
