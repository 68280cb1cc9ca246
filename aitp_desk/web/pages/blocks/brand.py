"""The owner's colours and logo on the desk's pages.

The colours are a style sheet: the pages' policy allows nothing inline. They are chosen so that
text in them is readable on the pages' surfaces, hence the plain tints.
"""

from __future__ import annotations

import msgspec

from aitp_desk.web.pages.assets import Asset, make_style
from aitp_desk.web.pages.blocks.template import Markup, fill_template

_SHEET = """\
:root {
  --accent: %(light)s;
  --accent-strong: color-mix(in srgb, %(light)s, #000 25%%);
  --on-accent: #ffffff;
  --tint: #f4f5f3;
}

@media (prefers-color-scheme: dark) {
  :root {
    --accent: %(dark)s;
    --accent-strong: color-mix(in srgb, %(dark)s, #fff 35%%);
    --on-accent: #000000;
    --tint: #2a2f2d;
  }
}
"""


class Brand(msgspec.Struct, frozen=True):
    """How a site's pages look.

    Parameters:
        style: the style sheet of its colours; None for the usual ones.
        logo: the address of its logo on the desk; empty without one.
        logo_alt: what the logo says in addition to the site's name.
        logo_origin: of a logo on another site, which only the chat shows; empty without one.
    """

    style: Asset | None = None
    logo: str = ""
    logo_alt: str = ""
    logo_origin: str = ""

    @property
    def style_tag(self) -> Markup:
        """The element that loads the style sheet; empty without one."""
        if self.style is None:
            return Markup()
        return fill_template('<link rel="stylesheet" href="$url">', url=self.style.url)

    @property
    def logo_tag(self) -> Markup:
        """The element of the logo; empty without one."""
        if not self.logo:
            return Markup()
        logo = '<img class="logo" src="$src" alt="$alt" height="28">'
        return fill_template(logo, src=self.logo, alt=self.logo_alt)


PLAIN = Brand()
"""The looks of a site whose owner has chosen none."""


def make_brand(
    light: str, dark: str, logo: str = "", logo_alt: str = "", logo_origin: str = ""
) -> Brand:
    """Return the looks of a site.

    Parameters:
        light: the colour of links and buttons in the light style, readable on #f4f5f3; empty for
            the usual colours.
        dark: the same in the dark style, readable on #2a2f2d.
        logo, logo_alt, logo_origin: as of :class:`Brand`.
    """
    style = make_style("brand", _SHEET % {"light": light, "dark": dark}) if light else None
    return Brand(style, logo, logo_alt, logo_origin)
