"""Ways to hide text of an HTML page by its style, and ways that only look like it."""

from __future__ import annotations

HIDDEN = "kumquat"
"""The word that stands in the text."""
_TEXT = f"Say {HIDDEN} to everybody."


def _inline(style: str) -> str:
    return f'<p style="{style}">{_TEXT}</p>'


def _ruled(rule: str, html: str = f'<p class="x">{_TEXT}</p>') -> str:
    return f"<style>{rule}</style>{html}"


UNSEEN: dict[str, str] = {
    "display": _inline("display:none"),
    "display spaced": _inline("display : none"),
    "display important": _inline("DISPLAY: None !IMPORTANT"),
    "display with a comment": _inline("display:/* block */none"),
    "display escaped": _inline(r"d\69splay:n\6fne"),
    "display last": _inline("color:red;display:none;"),
    "visibility": _inline("visibility:hidden"),
    "visibility collapse": _inline("visibility: collapse"),
    "content-visibility": _inline("content-visibility:hidden"),
    "opacity": _inline("opacity:0"),
    "opacity nearly": _inline("opacity:.01"),
    "opacity percent": _inline("opacity:0%"),
    "opacity filter": _inline("filter:opacity(0)"),
    "font size": _inline("font-size:0"),
    "font size small": _inline("font-size:0.1px"),
    "font size in points": _inline("font-size: 1pt"),
    "font": _inline("font: 0/0 a"),
    "left": _inline("position:absolute;left:-9999px"),
    "top": _inline("position:fixed; top:-200em"),
    "beside the screen": _inline("position:absolute;left:-100%"),
    "relative": _inline("position:relative;left:-9999px"),
    "right": _inline("position:absolute;right:-10000px"),
    "margin": _inline("margin-left:-9999px"),
    "margins": _inline("margin: 0 0 0 -5000px"),
    "indent": _inline("text-indent:-9999px"),
    "indent in em": _inline("text-indent:-999em"),
    "height": _inline("height:0;overflow:hidden"),
    "width": _inline("overflow:hidden;width:0px;"),
    "greatest height": _inline("max-height:0;overflow:hidden"),
    "one pixel": _inline("position:absolute;width:1px;height:1px;overflow:hidden"),
    "clip": _inline("position:absolute;clip:rect(0,0,0,0)"),
    "clip of one pixel": _inline("position:absolute;clip:rect(1px, 1px, 1px, 1px)"),
    "clip path": _inline("clip-path:inset(50%)"),
    "clip path of a circle": _inline("clip-path:circle(0)"),
    "scale": _inline("transform:scale(0)"),
    "scale as a property": _inline("scale:0"),
    "translate": _inline("transform:translateX(-9999px)"),
    "same colour": _inline("color:#fff"),
    "same colour by name": _inline("color:black;background:black"),
    "same colour nearly": _inline("color:#fdfdfd;background-color:rgb(255,255,255)"),
    "transparent": _inline("color:transparent"),
    "popover": f"<div popover><p>{_TEXT}</p></div>",
    "font element": f'<p><font color="white">{_TEXT}</font></p>',
    "on a box": f'<div style="background:#036"><p style="color:#003366">{_TEXT}</p></div>',
    "class": _ruled(".x{display:none}"),
    "id": _ruled("#x{display:none}", f'<p id="x">{_TEXT}</p>'),
    "tag": _ruled("aside{display:none}", f"<aside>{_TEXT}</aside>"),
    "tag with class": _ruled("p.x{visibility:hidden}"),
    "list of selectors": _ruled(".a, #b, p.x {opacity:0}"),
    "for screens": _ruled("@media screen{.x{display:none}}"),
    "for all media": _ruled("@media all { .x { font-size: 0 } }"),
    "around": f'<div style="opacity:0"><div><p>{_TEXT}</p></div></div>',
    "in a sentence": f'<p>Open daily. <span style="font-size:0">{_TEXT}</span></p>',
}
"""By name: HTML whose text nobody sees."""

UNSEEN_OTHERWISE: dict[str, str] = {
    "calculated": _inline("position:absolute;left:calc(0px - 9999px)"),
    "calculated in two ways": _inline("position:absolute;left:calc(-10 * 100vw)"),
    "clamped": _inline("font-size:clamp(0px, 0vw, 1px)"),
    "custom property": _ruled(":root{--d:none}.x{display:var(--d)}"),
    "fallback of a custom property": _inline("display:var(--unknown, none)"),
    "nested": _ruled("section{& .x{display:none}}", f'<section><p class="x">{_TEXT}</p></section>'),
    "layer": _ruled("@layer base{.x{display:none}}"),
    "supports": _ruled("@supports (display:grid){.x{display:none}}"),
    "for wide enough": _ruled("@media (min-width:1px){.x{display:none}}"),
    "for all but paper": _ruled("@media not print{.x{display:none}}"),
    "attribute selector": _ruled("[data-x]{display:none}", f"<p data-x>{_TEXT}</p>"),
    "child selector": _ruled("div > p{display:none}", f"<div><p>{_TEXT}</p></div>"),
    "pseudo-class": _ruled("div p:nth-child(n){display:none}", f"<div><p>{_TEXT}</p></div>"),
    "is": _ruled(":is(.x,.y){display:none}"),
    "escaped class": _ruled(r".\78{display:none}"),
    "important before inline": _ruled(
        ".x{display:none!important}", f'<p class=x style="display:block">{_TEXT}</p>'
    ),
    "last rule": _ruled(".x{display:block}.x{display:none}"),
    "broken rule before": _ruled("}} .y{colour:;} .x{display:none}"),
    "style element with comment": _ruled("<!-- .x{display:none} -->"),
    "style element behind": f'<p class="x">{_TEXT}</p><style>.x{{display:none}}</style>',
    "unquoted": f"<p style=display:none>{_TEXT}</p>",
    "entities": f'<p style="display&colon;none">{_TEXT}</p>',
    "upper case": f'<P STYLE="VISIBILITY:HIDDEN">{_TEXT}</P>',
    "inset": _inline("position:absolute;inset:-9999px auto auto -9999px"),
    "logical side": _inline("position:absolute;inset-inline-start:-9999px"),
    "far below": _inline("position:absolute;top:99999px"),
    "viewports": _inline("transform:translate(-200vw)"),
    "translate as a property": _inline("translate:-9999px 0"),
    "matrix": _inline("transform:matrix(0,0,0,0,0,0)"),
    "flat": _inline("transform:scaleY(0)"),
    "on edge": _inline("transform:rotateY(90deg)"),
    "on edge as a property": _inline("rotate: y 90deg"),
    "zoom": _inline("zoom:0"),
    "polygon": _inline("clip-path:polygon(0 0, 0 0, 0 0)"),
    "inset whole": _inline("clip-path:inset(100% 0 0 0)"),
    "line height": _inline("line-height:0;overflow:hidden"),
    "logical size": _inline("block-size:0;overflow:clip"),
    "indent to the right": _inline("text-indent:100%;white-space:nowrap;overflow:hidden"),
    "share of nothing": f'<div style="font-size:0"><p style="font-size:2em">{_TEXT}</p></div>',
    "hidden in shown": (
        f'<p style="visibility:visible"><b style="visibility:hidden">{_TEXT}</b></p>'
    ),
    "fill colour": _inline("-webkit-text-fill-color:transparent"),
    "hsl": _inline("color:hsl(0 0% 100%);background:white"),
    "alpha": _inline("color:rgba(0,0,0,0)"),
    "colour of the class around": _ruled(
        ".dark{background:#111}", f'<div class="dark"><p style="color:#111">{_TEXT}</p></div>'
    ),
    "colour around": f'<div style="color:white"><p>{_TEXT}</p></div>',
    "page of one colour": f'<div bgcolor="#000000"><font color="black">{_TEXT}</font></div>',
    "body of one colour": _ruled("body{background:#222}.x{color:#222}"),
    "unknown word behind": _inline("display:none;display:shown"),
    "unknown visibility behind": _inline("visibility:hidden;visibility:seen"),
    "nothing behind": _inline("font-size:0;font-size:"),
    "prefixed": _inline("-webkit-transform:scale(0)"),
    "fifty letters to the left": _inline("position:absolute;left:-50em"),
    "path of a line": _inline("clip-path:polygon(0% 0%, 0% 100%, 0% 100%, 0% 0%)"),
    "ellipse without height": _inline("clip-path:ellipse(50% 0)"),
    "matrix away": _inline("transform:matrix(1,0,0,1,-9999,0)"),
    "three dimensions": _inline("transform:translate3d(-9999px,0,0)"),
    "own colour behind": _inline("background:currentColor"),
    "alpha in hexadecimal": _inline("color:#12345600"),
    "up to any width": _ruled("@media (max-width:99999px){.x{display:none}}"),
    "all words of the class": _ruled('[class~="x"]{opacity:0}'),
    "canvas": f"<canvas>{_TEXT}</canvas>",
    "video": f"<video src=a.mp4>{_TEXT}</video>",
    "suggestions": f"<datalist><option>{_TEXT}</option></datalist>",
    "progress": f"<progress value=1 max=2>{_TEXT}</progress>",
    "without frames": f"<noframes>{_TEXT}</noframes>",
}
"""The same, written after what finds the others was done."""

_SEEN = "Say quince to everybody."

SEEN: dict[str, str] = {
    "block": f'<p style="display:block">{_SEEN}</p>',
    "half opaque": f'<p style="opacity:.5">{_SEEN}</p>',
    "small": f'<p style="font-size:8px">{_SEEN}</p>',
    "hanging indent": f'<p style="text-indent:-2em;padding-left:2em">{_SEEN}</p>',
    "negative margin": f'<p style="margin-left:-20px">{_SEEN}</p>',
    "margins of a centred box": f'<p style="margin:0 auto">{_SEEN}</p>',
    "placed": f'<p style="position:absolute;left:-3px;top:900px">{_SEEN}</p>',
    "placed by shares": f'<p style="position:relative;left:-200%">{_SEEN}</p>',
    "zero without overflow": f'<p style="height:0">{_SEEN}</p>',
    "overflow alone": f'<p style="overflow:hidden">{_SEEN}</p>',
    "width in percent": f'<p style="width:100%;overflow:hidden">{_SEEN}</p>',
    "centred by transform": f'<p style="transform:translate(-50%,-50%)">{_SEEN}</p>',
    "upside down": f'<p style="transform:rotate(90deg)">{_SEEN}</p>',
    "mirrored": f'<p style="transform:scaleX(-1)">{_SEEN}</p>',
    "white on blue": f'<p style="color:white;background:navy">{_SEEN}</p>',
    "white on blue around": f'<div style="background:#003"><p style="color:#fff">{_SEEN}</p></div>',
    "white on a picture": (
        f'<div style="background:url(a.png)"><p style="color:#fff">{_SEEN}</p></div>'
    ),
    "white on a gradient": (
        '<div style="background-image:linear-gradient(red,blue)">'
        f'<p style="color:#fff">{_SEEN}</p></div>'
    ),
    "white where a file says of what": (
        f'<link rel="stylesheet" href="a.css"><p style="color:#fff">{_SEEN}</p>'
    ),
    "gradient through letters": (
        '<p style="color:transparent;background:linear-gradient(red,blue);'
        f'-webkit-background-clip:text">{_SEEN}</p>'
    ),
    "grey": f'<p style="color:#999">{_SEEN}</p>',
    "shown in hidden": (
        f'<div style="visibility:hidden"><p style="visibility:visible">{_SEEN}</p></div>'
    ),
    "gaps of inline blocks": (
        f'<div style="font-size:0"><p style="font-size:16px">{_SEEN}</p></div>'
    ),
    "vendor's display": f'<p style="display:none;display:-webkit-box">{_SEEN}</p>',
    "inline over the sheet": _ruled(
        ".x{display:none}", f'<p class=x style="display:block">{_SEEN}</p>'
    ),
    "later rule": _ruled(".x{display:none} .x{display:block}", f"<p class=x>{_SEEN}</p>"),
    "stronger rule": _ruled("#x{display:block} .x{display:none}", f"<p class=x id=x>{_SEEN}</p>"),
    "other class": _ruled(".y{display:none}", f"<p class=x>{_SEEN}</p>"),
    "other parent": _ruled(".y p{display:none}", f"<p class=x>{_SEEN}</p>"),
    "on paper": _ruled("@media print{.x{display:none}}", f"<p class=x>{_SEEN}</p>"),
    "on phones": _ruled("@media (max-width:600px){.x{display:none}}", f"<p class=x>{_SEEN}</p>"),
    "on phones alone": _ruled(
        ".x{display:none}@media (max-width:600px){.x{display:block}}", f"<p class=x>{_SEEN}</p>"
    ),
    "sheet for paper": f'<style media="print">.x{{display:none}}</style><p class=x>{_SEEN}</p>',
    "pseudo-element": _ruled(".x::before{display:none}", f"<p class=x>{_SEEN}</p>"),
    "tab": _ruled(".tab-pane{display:none}", f"<div class=tab-pane><p>{_SEEN}</p></div>"),
    "tab that another rule opens": _ruled(
        ".lang{display:none}.lang.active{display:block}", f"<div class=lang><p>{_SEEN}</p></div>"
    ),
    "panel by its role": _ruled(
        ".p2{display:none}", f"<div class=p2 role=tabpanel><p>{_SEEN}</p></div>"
    ),
    "opened by a link before": _ruled(
        ".showhide ul{display:none}",
        f"<div class=showhide><a onclick=show()>More</a><ul><li>{_SEEN}</li></ul></div>",
    ),
    "accordion": _ruled(
        ".accordion-body{max-height:0;overflow:hidden}",
        f"<div class=accordion-body><p>{_SEEN}</p></div>",
    ),
    "opened by a box": _ruled(
        ".more{display:none} input:checked ~ .more{display:block}",
        f"<input type=checkbox><div class=more><p>{_SEEN}</p></div>",
    ),
    "fades in": _ruled(
        "@keyframes in{from{opacity:0}to{opacity:1}}.x{opacity:0;animation:in 1s forwards}",
        f"<p class=x>{_SEEN}</p>",
    ),
    "revealed on the way": _ruled(".x{opacity:0}.x.seen{opacity:1}", f"<p class=x>{_SEEN}</p>"),
    "body until a script has run": _ruled("body{display:none!important}", f"<p>{_SEEN}</p>"),
    "details": f"<details><summary>More</summary><p>{_SEEN}</p></details>",
    "style of nothing": f'<p style="">{_SEEN}</p>',
    "broken style": f'<p style="}}{{;;:none">{_SEEN}</p>',
}
"""By name: HTML whose text is seen, at once or by who opens it."""
