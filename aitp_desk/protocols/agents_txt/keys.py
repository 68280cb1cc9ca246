"""Maps members of the JSON form to the keys of the text form.

Keys are read in either case (section 3.1) and always written in the specification's case: the
parser of its authors knows no other.
"""

from __future__ import annotations

from typing import Final

Member = tuple[str, ...]

VERSION: Final = "Spec-Version"
GENERATED_AT: Final = "Generated-At"
SITE: Final = {
    "name": "Site-Name",
    "url": "Site-URL",
    "description": "Site-Description",
    "contact": "Site-Contact",
    "privacyPolicy": "Site-Privacy-Policy",
}
CAPABILITY: Final = "Capability"
OF_CAPABILITY: Final[dict[Member, str]] = {
    ("endpoint",): "Endpoint",
    ("method",): "Method",
    ("protocol",): "Protocol",
    ("auth", "type"): "Auth",
    ("auth", "tokenEndpoint"): "Auth-Endpoint",
    ("auth", "docsUrl"): "Auth-Docs",
    ("auth", "registrationEndpoint"): "Registration-Endpoint",
    ("scopes",): "Scopes",
    ("rateLimit",): "Rate-Limit",
    ("description",): "Description",
    ("openapi",): "OpenAPI",
    ("parameters",): "Param",
}
AGENT: Final = "Agent"
OF_AGENT: Final[dict[Member, str]] = {
    ("rateLimit",): "Rate-Limit",
    ("capabilities",): "Capabilities",
}
ALLOW: Final = "Allow"
DISALLOW: Final = "Disallow"


def find_key(path: tuple[str | int, ...]) -> str:
    """Return the text form's key for a JSON member; empty without one.

    Parameters:
        path: such as ``("capabilities", 0, "auth", "type")``.
    """
    match path:
        case ("capabilities", int(), *rest):
            names = tuple(str(part) for part in rest if isinstance(part, str))
            return _nearest(OF_CAPABILITY, names) if names else CAPABILITY
        case ("agents", str(), *rest):
            return _nearest(OF_AGENT, tuple(map(str, rest))) if rest else AGENT
        case ("site", str(name), *_):
            return SITE.get(name, "")
        case ("specVersion",):
            return VERSION
        case ("generatedAt",):
            return GENERATED_AT
        case ("access", kind, *_):
            return ALLOW if kind == "allow" else DISALLOW
        case ("capabilities",):
            return CAPABILITY
        case ("metadata", str(name)):
            return name
        case _:
            return ""


def _nearest(keys: dict[Member, str], member: Member) -> str:
    """Return the key of a member, or of the one that contains it."""
    while member and member not in keys:
        member = member[:-1]
    return keys[member] if member else ""
