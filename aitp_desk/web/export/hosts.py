"""Files that configure static hosts for an exported site."""

from __future__ import annotations

import msgspec

from aitp_desk.protocols.ahp.content import FULL_CONTENT_PATH
from aitp_desk.protocols.ahp.manifest import CONTENT_PATH
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH, link_header
from aitp_desk.protocols.base.protocol import FOREVER, JSON, MARKDOWN
from aitp_desk.web.pages.assets import ICON, STYLE
from aitp_desk.web.pages.csp import ON_PAGES

_FOR_ALL = ("Access-Control-Allow-Origin", "*")
_FIVE_MINUTES = ("Cache-Control", "public, max-age=300")
_EVERYWHERE = (
    ("Link", link_header()),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    *ON_PAGES,
)


def write_headers() -> str:
    """Write the file ``_headers`` of Netlify and Cloudflare Pages."""
    return "\n".join(
        "\n".join((address, *(f"  {name}: {value}" for name, value in headers), ""))
        for address, headers in _rules().items()
    )


def write_vercel() -> str:
    """Write the file ``vercel.json``, which Vercel reads in the root of a project."""
    rules = [
        {
            "source": address.replace("*", "(.*)"),
            "headers": [{"key": name, "value": value} for name, value in headers],
        }
        for address, headers in _rules().items()
    ]
    return msgspec.json.format(msgspec.json.encode({"headers": rules})).decode() + "\n"


def _rules() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the headers of each address; ``*`` matches anything.

    Some hosts join the values of a header from several rules by commas, so no header is in two
    rules that match the same address.
    """
    text = (("Content-Type", MARKDOWN), _FOR_ALL, _FIVE_MINUTES)
    return {
        "/*": _EVERYWHERE,
        MANIFEST_PATH: (("Content-Type", JSON), _FOR_ALL, _FIVE_MINUTES),
        CONTENT_PATH: text,
        FULL_CONTENT_PATH: text,
        "/*.md": text,
        **{asset.url: (FOREVER,) for asset in (STYLE, ICON)},
    }
