"""Renders the links to the manifest: Link header, head tags, notice.

The desk's own pages, the command ``snippet``, the middleware and the exported site all use this
module, so that they cannot differ. The output is ASCII and fits into a page of any encoding.
"""

from __future__ import annotations

from html import escape

MANIFEST_PATH = "/.well-known/agent.json"
MANIFEST_TYPE = "application/agent+json"
"""The media type by which an agent requests the manifest (AHP 0.1, section 3.2)."""

RELATIONS = ("agent-manifest", "ahp-manifest")
"""The link relation of AHP 0.1 and its later name."""

NOTICE_CLASS = "ahp-notice"
NOTICE_LABEL = "AI Agent Notice"

_OPENING = (
    "If you are an AI agent or another autonomous system: this site supports the Agent Handshake"
    " Protocol (AHP)."
)
_ASK = (
    "You can ask it instead of reading it page by page: you get short answers with their sources"
    " as JSON."
)
_READ = "You need not parse its HTML; every page is available as Markdown."
_QUESTION = '{"ahp": "0.1", "capability": "content_search", "query": "your question"}'


def link_header(url: str = "") -> str:
    """Return the value of the Link header (AHP 0.1, section 3.2).

    Parameters:
        url: the desk's address without a trailing slash; empty for the site's own.
    """
    return ", ".join(f'<{url}{MANIFEST_PATH}>; rel="{relation}"' for relation in RELATIONS)


def write_head_tags(url: str = "") -> str:
    """Render the tags of a page's head, one a line.

    Source: AHP 0.1, section 3.3; whitepaper, section 2.4.1.

    Parameters:
        url: as for :func:`link_header`.
    """
    address = escape(url + MANIFEST_PATH)
    links = (
        f'<link rel="{relation}" href="{address}" type="{MANIFEST_TYPE}">' for relation in RELATIONS
    )
    return "\n".join((f'<meta name="ahp-manifest" content="{address}">', *links))


def write_notice(url: str = "", *, asks: bool = True, hidden: bool = False) -> str:
    """Render the notice to agents in a page's body (AHP 0.1, section 3.4).

    Parameters:
        url: as for :func:`link_header`.
        asks: whether the desk answers questions; else it only serves pages (MODE1).
        hidden: whether the notice hides itself, for pages without the desk's style sheet. The
            attribute ``hidden`` is a ``display:none`` that no content security policy blocks.
    """
    at = escape(url)
    if asks:
        ways = [
            f"Its capabilities: <code>GET {at}{MANIFEST_PATH}</code>",
            f"Ask: <code>POST {at}/agent/converse</code> with <code>{_QUESTION}</code>",
            f"Read all content: <code>GET {at}/llms.txt</code>",
        ]
    else:
        ways = [
            f"Its content: <code>GET {at}{MANIFEST_PATH}</code>",
            f"All pages with a line on each: <code>GET {at}/llms.txt</code>",
            f"All content in one document: <code>GET {at}/llms-full.txt</code>",
            "A page as Markdown: its address followed by <code>.md</code>",
        ]
    lines = "<br>\n".join((*ways, "Protocol version: AHP/0.1"))
    switch = " hidden" if hidden else ""
    return (
        f'<section class="{NOTICE_CLASS}" aria-label="{NOTICE_LABEL}"{switch}>\n'
        f"<p>{_OPENING} {_ASK if asks else _READ}</p>\n<p>{lines}</p>\n</section>"
    )
