"""Settings of the chat component that web pages include."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from aitp_desk.config.units import Url

WidgetLanguage = Literal["en", "de", "fr", "es", "it", "nl", "pt", "pl", "ja", "zh"]
MAX_SUGGESTIONS = 6


Questions = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=120)], ...],
    Meta(max_length=MAX_SUGGESTIONS, extra={"unit": "questions"}),
]


class WidgetPath(msgspec.Struct, frozen=True, kw_only=True):
    """Questions for some pages; the first table that fits a page counts. Repeatable.

    The visitor's browser compares the paths: no page is reported to the desk.
    """

    path: Annotated[
        str,
        Meta(
            pattern=r"\A(?:/[^*?#\s]*\*?)?\Z",
            extra={"unit": "a path such as /shipping/*"},
            description="Path of the page; a * at its end is any rest.",
        ),
    ] = ""
    suggestions: Annotated[
        Questions, Meta(description="Questions that an empty chat offers on these pages.")
    ] = ()


class WidgetTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The chat's words in one language; what is empty here is as in [widget]. Repeatable."""

    language: Annotated[
        str,
        Meta(
            max_length=2,
            extra={"unit": "a language such as de"},
            description="Which of widget.languages these words are in.",
        ),
    ] = ""
    title: Annotated[
        str, Meta(max_length=60, description="Heading of the chat in this language.")
    ] = ""
    greeting: Annotated[
        str, Meta(max_length=400, description="First words of an empty chat in this language.")
    ] = ""
    placeholder: Annotated[
        str, Meta(max_length=80, description="Text of the empty text box in this language.")
    ] = ""
    suggestions: Annotated[
        Questions, Meta(description="Questions that an empty chat offers in this language.")
    ] = ()
    consent: Annotated[
        str, Meta(max_length=300, description="The line below the text box in this language.")
    ] = ""


class Widget(msgspec.Struct, frozen=True, kw_only=True):
    """The chat that a script tag puts on the pages of any website."""

    origins: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "origins"},
            description="Sites that have the chat on their pages, such as https://www.example.com;"
            " the desk's own pages always may.",
        ),
    ] = ()
    title: Annotated[
        str, Meta(max_length=60, description="Heading of the chat; by default the site's name.")
    ] = ""
    greeting: Annotated[
        str,
        Meta(
            max_length=400,
            description="First words of an empty chat; by default in the visitor's language.",
        ),
    ] = ""
    placeholder: Annotated[
        str,
        Meta(
            max_length=80,
            description="Text of the empty text box; by default in the visitor's language.",
        ),
    ] = ""
    suggestions: Annotated[
        Questions,
        Meta(description="Questions that an empty chat offers; by default taken from the content."),
    ] = ()
    texts: tuple[WidgetTexts, ...] = ()
    paths: tuple[WidgetPath, ...] = ()
    logo: Annotated[
        str,
        Meta(
            max_length=2000,
            extra={"unit": "a file or a URL"},
            description="Picture in the heading: a PNG, JPEG, WebP, GIF or SVG file, relative to"
            " the site's folder, or a URL on one of the origins.",
        ),
    ] = ""
    logo_alt: Annotated[
        str,
        Meta(
            max_length=100,
            description="What the logo says besides the title; empty if it only repeats it.",
        ),
    ] = ""
    accent: Annotated[
        str,
        Meta(
            pattern=r"\A(?:#[0-9a-fA-F]{6})?\Z",
            extra={"unit": "a colour such as #0b5f4c"},
            description="Colour of buttons and links. The chat darkens or lightens it where text"
            " would be hard to read.",
        ),
    ] = ""
    corner: Annotated[
        Literal["right", "left"],
        Meta(description="The lower corner of the page that has the button."),
    ] = "right"
    languages: Annotated[
        tuple[WidgetLanguage, ...],
        Meta(
            extra={"unit": "languages"},
            description="Languages of the chat's own texts; by default all that it has. Visitors"
            " get theirs if it is among them, else site.language, else the first. By default they"
            " choose among site.language and site.languages only, unless these name English alone.",
        ),
    ] = ()
    sign_in_url: Annotated[
        Url,
        Meta(
            description="Page where visitors sign in, for what needs a known visitor: a URL or a"
            " path of the desk."
        ),
    ] = ""
    privacy_url: Annotated[
        Url,
        Meta(description="Page about privacy that the chat links to: a URL or a path of the desk."),
    ] = ""
    consent: Annotated[
        str,
        Meta(
            max_length=300,
            description="A line below the text box, such as: An assistant answers; messages are"
            " kept for 30 days.",
        ),
    ] = ""
    ask_person: Annotated[
        bool,
        Meta(
            description="Whether the menu offers to talk to a person; needs tickets.people other"
            ' than "off".'
        ),
    ] = True
    show_retention: Annotated[
        bool,
        Meta(description="Whether the chat says how long retention.threads_days keeps messages."),
    ] = True
    sound: Annotated[
        bool,
        Meta(description="Whether a message in a hidden tab plays a short sound."),
    ] = False

    def in_language(self, language: str) -> Widget:
        """Return these settings with the owner's words in a language, where there are some."""
        for texts in self.texts:
            if texts.language == language:
                said = msgspec.structs.asdict(texts)
                return msgspec.structs.replace(
                    self, **{name: said[name] for name in said if said[name] and name != "language"}
                )
        return self
