"""Marks in a text for what the markup of its mail says.

Each stands on a line alone. They are control characters, which no text of a mail keeps.
"""

QUOTATION = "\x02"
"""Here begins what the program quotes, up to :data:`END` or the end of the text."""
SIGNATURE = "\x04"
"""Here begins a signature."""
END = "\x03"
"""Here ends what the last mark has begun."""
ALL = frozenset({QUOTATION, SIGNATURE, END})
