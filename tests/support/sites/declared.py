"""Documents of sites that speak few protocols, for visiting agents."""

from __future__ import annotations

import json
from typing import Any

from tests.support.doubles.website import Website


def put_json(site: Website, path: str, value: Any, **headers: str) -> None:
    """Serve a JSON document."""
    site.put(path, json.dumps(value), type="application/json; charset=utf-8", headers=headers)


def manifest(**members: Any) -> dict[str, Any]:
    """Return an AHP manifest of a site whose pages are all it has."""
    return {
        "ahp": "0.1",
        "modes": ["MODE1"],
        "content_signals": {"ai_train": False},
        "endpoints": {"content": "/llms.txt"},
        **members,
    }


def agents_json(site: Website, *capabilities: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return an agents.json."""
    return {
        "specVersion": "1.0",
        "site": {"name": "A shop", "url": site.url},
        "capabilities": list(capabilities),
        "access": {"allow": [], "disallow": []},
        "agents": {},
        **members,
    }


def capability(site: Website, id: str, path: str, **members: Any) -> dict[str, Any]:
    """Return a capability of an agents.json, over HTTP and by GET."""
    return {
        "id": id,
        "description": f"The capability {id}.",
        "endpoint": site.url + path,
        "method": "GET",
        "protocol": "REST",
        "auth": {"type": "none"},
        **members,
    }


def put_pages(site: Website) -> None:
    """Serve an llms.txt with one page."""
    site.put("/llms.txt", "# A shop\n\n- [Shipping](/shipping.md): where to\n", type="text/plain")
    page = "# Shipping\n\nWe ship to Norway within five days.\n\n## Returns\n\nWithin 30 days.\n"
    site.put("/shipping.md", page, type="text/markdown")
