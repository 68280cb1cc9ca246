"""Chooses short names for the members that a module's objects keep to themselves.

Those are private ones (``#name``), and those that one class declares and only its own code uses, by
``this``: no such name can mean a member of the browser's objects, or of a message. A caller may
know of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from aitp_desk.web.javascript.names import make_names
from aitp_desk.web.javascript.tokens import RESERVED, Token, closes, is_member, text_at

_OUTSIDE = -1


def choose_members(
    tokens: Sequence[Token], others: Iterable[Token] = (), known: Collection[str] = ()
) -> Mapping[int, str]:
    """Return the new names of members, by their places.

    Parameters:
        others: of modules that use this one: what they name stays.
        known: members of the module's own objects alone, wherever it names them.
    """
    found = [place for place, token in enumerate(tokens) if _names_member(tokens, place)]
    counts = Counter(tokens[place].text for place in found)
    words = {_bare(token) for token in others} | {_bare(token) for token in tokens}
    own = (_list_own(tokens, found) - {_bare(token) for token in others}).union(known)
    spare = (name for name in make_names() if name not in words)
    private = (f"#{name}" for name in make_names())
    chosen = {
        name: next(private) if name[0] == "#" else next(spare)
        for name, _ in counts.most_common()
        if name in own or name[0] == "#"
    }
    return {place: chosen[tokens[place].text] for place in found if tokens[place].text in chosen}


def _bare(token: Token) -> str:
    """The word of a word, or of a string that may name a member."""
    return token.text.strip("\"'")


def _names_member(tokens: Sequence[Token], place: int) -> bool:
    token = tokens[place]
    if token.kind != "word" or token.text in RESERVED:
        return False
    return token.inside == "class" or token.text[0] == "#" or is_member(tokens, place)


def _list_own(tokens: Sequence[Token], places: Iterable[int]) -> set[str]:
    """Return the names of members that one class alone declares and uses."""
    classes = _find_classes(tokens)
    users: dict[str, set[int]] = {}
    declared: set[str] = set()
    used: set[str] = set()
    for place in places:
        name = tokens[place].text
        is_method = tokens[place].inside == "class"
        is_used = text_at(tokens, place - 2) == "this" and text_at(tokens, place - 1) == "."
        user = classes[place] if is_method or is_used else _OUTSIDE
        users.setdefault(name, set()).add(user)
        if is_used:
            used.add(name)
        if is_method or text_at(tokens, place + 1) in {"=", "??="}:
            declared.add(name)
    texts = {_bare(token) for token in tokens if token.kind in {"string", "template"}}
    alone = {name for name, by in users.items() if len(by) == 1 and _OUTSIDE not in by}
    return (alone & declared & used) - texts


def _find_classes(tokens: Sequence[Token]) -> Sequence[int]:
    """Return by place where the body of the innermost class begins.

    A class that extends one of the browser's is none here: it may have its members from there.
    """
    names = {text_at(tokens, at + 1) for at, token in enumerate(tokens) if token.text == "class"}
    found: list[int] = []
    enclosing = [_OUTSIDE]
    for place, token in enumerate(tokens):
        if closes(token):
            enclosing.pop()
        found.append(enclosing[-1])
        if token.mate >= 0:
            within = enclosing[-1]
            if token.text == "{" and tokens[place + 1].inside == "class":
                extends = text_at(tokens, place - 2) == "extends"
                is_whole = not extends or text_at(tokens, place - 1) in names
                within = place if is_whole else _OUTSIDE
            enclosing.append(within)
    return found
