"""Parses text answers: ``Name: Ada`` on a line for each field, or the only value.

A text is an answer if each line names a field, or continues a text of several lines. If a form asks
for sensitive data, a text counts as an answer as soon as it seems to contain such data, because it
must not stay on the thread. Faults are reported on the thread, and the form stays open.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from aitp_data import autocomplete_tokens as tokens
from aitp_data.forms import Misfit, called, fit, is_secret
from aitp_data.messages import Data, DataField, FormField, RequestData
from aitp_data.text import REMEMBER, SAME

MOST_CHARACTERS = 4096
"""Longer text is not an answer."""
LONGEST_NAME = 400
"""Maximum length of the name at the start of a line."""
LONGEST_BARE = 200
"""Maximum length of a value alone, except in a ``textarea``."""

_CARD = re.compile(r"(?<![0-9])(?:[0-9][ -]?){11,18}[0-9](?![0-9])")
_BULLET = re.compile(r"\s*(?:(?:[-*•>]|[0-9]{1,2}[.)])\s+|>)*")
_NO_VALUE = frozenset(
    {
        *("no", "no thanks", "cancel", "stop", "never mind", "nevermind", "help", "why", "what"),
        *("how", "who", "when", "where", "which", "yes", "ok", "okay", "sure", "hi", "hello"),
        *("thanks", "thank you"),
    }
)


class OpenForm(msgspec.Struct, frozen=True):
    """A form that waits for an answer.

    Parameters:
        fields, remembers: as of :class:`~aitp_data.records.AskedForm`.
    """

    request: RequestData
    fields: tuple[FormField, ...]
    remembers: bool = False


class _Heard(msgspec.Struct):
    values: dict[str, str]
    remember: bool | UnsetType = UNSET


def understand(text: str, forms: Sequence[OpenForm]) -> Data | None:
    """Match a text with the one open form that it can answer; None for none or several.

    Parameters:
        forms: the newest first. Of several, the newest is meant for which the text contains
            sensitive data: unclaimed, it would stay on the thread.
    """
    if not text.strip() or len(text) > MOST_CHARACTERS:
        return None
    heard = []
    for form in forms:
        found = _lines(text, form)
        if found is None and len(forms) == 1:
            found = _alone(text.strip(), form)
        if found is None:
            found = _secret(text.strip(), form)
        if found is not None:
            heard.append((form, found))
    if len(heard) > 1:
        heard = [one for one in heard if _holds_secret(*one)][:1]
    if len(heard) != 1:
        return None
    ((form, found),) = heard
    for field in form.fields:
        if field.default_value:
            found.values.setdefault(field.id, field.default_value)
    fields = tuple(DataField(id, value=value) for id, value in found.values.items())
    if not fields:
        return None
    return Data(fields, form.request.id, remember=found.remember, in_words=True)


def _lines(text: str, form: OpenForm) -> _Heard | None:
    """Parse fields by name, each at the start of a line."""
    names = _names(form.fields)
    heard = _Heard({})
    last: FormField | None = None
    is_left_over = False
    for line in text.splitlines():
        named = _named(line, names)
        if named is None:
            remembered = _remembers(line, form)
            if remembered is not None:
                heard.remember = remembered
            elif last is not None and not heard.values[last.id] and line.strip():
                heard.values[last.id] = line.strip()
            elif last is not None and last.type == "textarea":
                heard.values[last.id] += f"\n{line}"
            else:
                is_left_over = is_left_over or bool(line.strip())
            continue
        last, value = named
        if last.id in heard.values:
            is_left_over = True
        else:
            heard.values[last.id] = value
    secret = {field.id for field in form.fields if is_secret(field)}
    if not heard.values or (is_left_over and not secret & heard.values.keys()):
        return None
    return heard


def _names(fields: Sequence[FormField]) -> Mapping[str, FormField]:
    """Return fields by name, for names of one field only."""
    by_label: dict[str, list[FormField]] = {}
    for field in fields:
        for name in {_plain(called(field)), _plain(field.id)}:
            by_label.setdefault(name, []).append(field)
    return {name: found[0] for name, found in by_label.items() if name and len(found) == 1}


def _named(line: str, names: Mapping[str, FormField]) -> tuple[FormField, str] | None:
    start = _BULLET.match(line)
    words = line[start.end() :] if start else line
    for sign in re.finditer("[:=：]", words[:LONGEST_NAME]):
        field = names.get(_plain(words[: sign.start()]))
        if field is not None:
            return field, words[sign.end() :].strip()
    return None


def _remembers(line: str, form: OpenForm) -> bool | None:
    if not form.remembers:
        return None
    name, _, words = line.partition(":")
    if _plain(name) != _plain(REMEMBER):
        return None
    return {"yes": True, "no": False}.get(_plain(words))


def _alone(text: str, form: OpenForm) -> _Heard | None:
    """Parse the value of the only field, or the acceptance of all proposed values."""
    if _plain(text) == SAME and any(field.default_value for field in form.fields):
        return _Heard({})
    if len(form.fields) != 1:
        return None
    (field,) = form.fields
    fits = _fits(field, text)
    if is_secret(field):
        is_strict = tokens.name_of(field.autocomplete) in tokens.CHECKS
        return _Heard({field.id: text}) if is_strict and fits else None
    if "email" in {field.type, tokens.name_of(field.autocomplete)}:
        found = [word for word in map(_bare, text.split()) if "@" in word and tokens.is_email(word)]
        return _Heard({field.id: found[0]}) if len(found) == 1 else None
    longest = MOST_CHARACTERS if field.type == "textarea" else LONGEST_BARE
    if not fits or len(text) > longest or text.endswith("?") or _plain(text) in _NO_VALUE:
        return None
    return _Heard({field.id: text})


def _secret(text: str, form: OpenForm) -> _Heard | None:
    """Find sensitive data: the word after its name, a word alone, a card number."""
    secret = [field for field in form.fields if is_secret(field)]
    if not secret:
        return None
    words = text.split()
    if len(words) > 1:
        field = _names(form.fields).get(_without_filling(_plain(" ".join(words[:-1]))))
        if field in secret:
            return _Heard({field.id: words[-1]})
    elif _plain(text) not in _NO_VALUE and not ("@" in text and tokens.is_email(text)):
        return _Heard({secret[0].id: text})
    wanted = [one for one in secret if tokens.name_of(one.autocomplete) == "cc-number"]
    found = [one[0] for one in _CARD.finditer(text) if tokens.is_card_number(one[0])]
    return _Heard({wanted[0].id: found[0]}) if wanted and found else None


def _holds_secret(form: OpenForm, found: _Heard) -> bool:
    return any(is_secret(field) and field.id in found.values for field in form.fields)


def _without_filling(words: str) -> str:
    """Reduce ``my pin is`` to ``pin``."""
    words = words.removesuffix(" is").removesuffix("=").strip()
    return words.removeprefix("my ").removeprefix("the ").strip()


def _fits(field: FormField, text: str) -> bool:
    try:
        fit(field, text)
    except Misfit:
        return False
    return True


def _bare(word: str) -> str:
    return word.strip("<>()[]\"'“”,;.!?")


def _plain(text: str) -> str:
    """Normalise a name for comparison."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" \"'“”.!?*:")
