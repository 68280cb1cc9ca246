"""Mails and pages as HTML: the site's name and colour, and nothing that is loaded."""

from __future__ import annotations

import re
from html import escape

import msgspec

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
ON_PAGES = (("Content-Security-Policy", _POLICY), ("X-Robots-Tag", "noindex"))
"""Headers of the pages of links in messages: their styles are inline."""
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_DEFAULT_COLOUR = "#0b5fff"
_FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
_WRAP = "overflow-wrap:anywhere"
_SMALL = f"margin:0 0 8px;font-size:14px;line-height:1.5;{_WRAP}"


class Link(msgspec.Struct, frozen=True):
    """A link with its label.

    Parameters:
        style: as of :class:`~aitp_desk.transports.messages.Button`.
    """

    label: str
    url: str
    style: str = "plain"


class Quote(msgspec.Struct, frozen=True):
    """An earlier message: who and when as a line, and what as HTML."""

    head: str
    body: str


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a mail or a page of the desk shows, from top to bottom.

    Parameters:
        title: of the document.
        site: name of the site, shown as its heading.
        colour: of the site.
        body: HTML.
        buttons: below it.
        sources_title, sources: pages that were used.
        notes: small lines.
        small_links: below the notes.
        quotes_title, quotes: the conversation before.
    """

    language: str
    title: str
    site: str
    colour: str
    body: str
    buttons: tuple[Link, ...] = ()
    sources_title: str = ""
    sources: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()
    small_links: tuple[Link, ...] = ()
    quotes_title: str = ""
    quotes: tuple[Quote, ...] = ()


def render_page(page: Page, form: str = "") -> str:
    """Return a whole document.

    Parameters:
        form: HTML that a page of the desk shows below its body; mails have none.
    """
    colour = page.colour if _COLOUR.fullmatch(page.colour) else _DEFAULT_COLOUR
    heading = (
        f'<h1 style="margin:0 0 16px;padding:0 0 8px;border-bottom:3px solid {colour};'
        f'font-size:18px;line-height:1.3;{_WRAP}">{escape(page.site)}</h1>'
    )
    parts = [heading, page.body, form]
    parts += [_button(button, colour) for button in page.buttons]
    if page.sources:
        items = "".join(
            f'<li style="margin:0 0 4px;{_WRAP}"><a href="{escape(source.url)}"'
            f' style="{_WRAP}">{escape(source.label)}</a></li>'
            for source in page.sources
        )
        parts.append(
            f'<h2 style="margin:20px 0 8px;font-size:14px">{escape(page.sources_title)}</h2>'
            f'<ul style="margin:0 0 12px;padding-left:24px;font-size:14px;line-height:1.5">'
            f"{items}</ul>"
        )
    if page.notes or page.small_links:
        parts.append('<hr style="border:0;border-top:1px solid #808080;margin:20px 0 12px">')
    parts += [f'<p style="{_SMALL}">{escape(note)}</p>' for note in page.notes]
    parts += [
        f'<p style="{_SMALL}"><a href="{escape(link.url)}">{escape(link.label)}</a></p>'
        for link in page.small_links
    ]
    if page.quotes:
        parts.append(_quotations(page))
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(page.language)}" style="color-scheme:light dark">\n'
        '<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="supported-color-schemes" content="light dark">\n'
        f"<title>{escape(page.title)}</title>\n</head>\n"
        f'<body style="margin:0;padding:16px;{_FONT};font-size:16px;line-height:1.5">\n'
        f'<main style="display:block;max-width:600px;margin:0 auto;{_WRAP}">\n'
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def render_action_page(
    *,
    language: str,
    title: str,
    lead: str,
    site: str,
    colour: str,
    action: str = "",
    fields: str = "",
) -> bytes:
    """Return a page with a sentence, and a button for what to do.

    Parameters:
        action: label of the button; empty for none.
        fields: HTML above the button.
    """
    form = ""
    if action:
        form = (
            f'<form method="post">{fields}<button type="submit"'
            f' style="{button_style(colour)};cursor:pointer">{escape(action)}</button></form>'
        )
    text = f"<p>{escape(lead)}</p>" if lead else ""
    page = Page(
        language=language,
        title=title,
        site=site,
        colour=colour,
        body=f"<h2>{escape(title)}</h2>{text}",
    )
    return render_page(page, form).encode()


def button_style(colour: str) -> str:
    """Return the style of a filled button, with text readable on its colour."""
    chosen = colour if _COLOUR.fullmatch(colour) else _DEFAULT_COLOUR
    return (
        f"background-color:{chosen};color:{_text_on(chosen)};border:2px solid {chosen};"
        f"border-radius:6px;padding:10px 18px;font-size:16px;font-weight:600;{_WRAP}"
    )


def _button(button: Link, colour: str) -> str:
    """A filled link, or one with a frame: both can be seen on any background."""
    style = (
        button_style(colour)
        if button.style == "primary"
        else f"border:2px solid #808080;border-radius:6px;padding:10px 18px;font-weight:600;{_WRAP}"
    )
    return (
        '<p style="margin:0 0 14px"><a'
        f' href="{escape(button.url)}" style="display:inline-block;{style};'
        f'text-decoration:none">{escape(button.label)}</a></p>'
    )


def _quotations(page: Page) -> str:
    """Marked as a quotation, as mail programs do: an answer to the mail is read without it."""
    quotes = "".join(
        f'<p style="margin:12px 0 4px;font-size:13px;font-weight:600;{_WRAP}">'
        f"{escape(quote.head)}</p>{quote.body}"
        for quote in page.quotes
    )
    return (
        f'<h2 style="margin:20px 0 8px;font-size:14px">{escape(page.quotes_title)}</h2>'
        '<blockquote type="cite" style="margin:0;padding:0 0 0 12px;font-size:14px;'
        f'border-left:3px solid #808080">{quotes}</blockquote>'
    )


def _text_on(colour: str) -> str:
    """Black or white, whichever differs more from a colour (WCAG 2.2, relative luminance)."""
    luminance = 0.0
    for at, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)):
        value = int(colour[at : at + 2], 16) / 255
        linear = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        luminance += weight * linear
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else "#000000"
