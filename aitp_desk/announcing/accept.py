"""Which form of a page a caller wants, by its Accept header (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from aitp_desk.announcing.tags import MANIFEST_TYPE


def wants_manifest(accept: str) -> bool:
    """Whether a caller names the manifest's type and would rather have it than a page.

    Parameters:
        accept: the value of the Accept header; empty where there was none.
    """
    wanted, named = quality_of(accept, MANIFEST_TYPE)
    page, page_named = quality_of(accept, "text/html")
    return named and wanted > 0 and (wanted > page or (wanted == page and not page_named))


def quality_of(accept: str, media_type: str) -> tuple[float, bool]:
    """How much a media type is wanted.

    Parameters:
        accept: as :func:`wants_manifest`.

    Returns:
        The weight from 0 to 1 that the most specific matching range gives, and whether that range
        names the type itself. A weight that is no number counts as 0.
    """
    ranges = ("*/*", f"{media_type.partition('/')[0]}/*", media_type)
    best = (-1, 0.0)
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        if name in ranges:
            best = max(best, (ranges.index(name), _weight(parameters)))
    return best[1], best[0] == ranges.index(media_type)


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                weight = float(value)
            except ValueError:
                return 0.0
            return weight if 0 <= weight <= 1 else 0.0
    return 1.0
