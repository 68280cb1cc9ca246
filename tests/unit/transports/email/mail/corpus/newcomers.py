"""A second set in shapes for which no rule was made, most of them as markup."""

from __future__ import annotations

from collections.abc import Iterator

from tests.unit.transports.email.mail.corpus.builders import DESK, Sample, head, mail, part, quote

SAID = "The shade is cracked.\nPlease send another one."
OLD = "Your parcel has left us.\nIt comes on Friday."
LINE = f"On Tue, 3 Nov 2026 at 10:12, Shop Team <{DESK}> wrote:"
BR = SAID.replace("\n", "<br>")
OLD_BR = OLD.replace("\n", "<br>")
ESCAPED = LINE.replace("<", "&lt;").replace(">", "&gt;")
BLOCKQUOTE = f'<blockquote type="cite">{OLD_BR}</blockquote>'

MARKUP = {
    "gmail on a telephone": (
        f'<div dir="auto">{BR}</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">'
        f'{ESCAPED}<br></div><blockquote class="gmail_quote" '
        f'style="margin:0 0 0 .8ex;border-left:1px'
        f' #ccc solid;padding-left:1ex">{OLD_BR}</blockquote></div>'
    ),
    "gmail with a signature": (
        f'<div dir="ltr"><div>{BR}</div><div><br clear="all"></div><br>-- <br><div dir="ltr" class='
        f'"gmail_signature"><div>Mia</div></div></div><br><div class="gmail_quote"><div class='
        f'"gmail_attr">{ESCAPED}</div><blockquote class="gmail_quote">{OLD_BR}</blockquote></div>'
    ),
    "outlook on a telephone": (
        f'<html><body><div dir="ltr"><div class="elementToProof">{BR}</div><div><br></div><div id='
        '"ms-outlook-mobile-signature">Get <a '
        'href="https://aka.ms/o0ukef">Outlook for iOS</a></div>'
        '</div><hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg"><b>From:</b> Shop'
        f"<br><b>Sent:</b> Tuesday<br><b>To:</b> Mia<br></div><div>{OLD_BR}</div></body></html>"
    ),
    "outlook 2010": (
        f"<div class=WordSection1><p class=MsoNormal>{BR}</p><p "
        f"class=MsoNormal>&nbsp;</p><div style="
        "'border:none;border-top:solid #B5C4DF 1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal>"
        "<b><span style='font-family:Tahoma'>Von:</span></b><span> Shop [mailto:x]<br><b>Gesendet:"
        f"</b> Dienstag</span></p></div><p class=MsoNormal>{OLD_BR}</p></div>"
    ),
    "outlook with a blue line": (
        f"<div class=WordSection1><p class=MsoNormal>{BR}</p><div "
        f"style='border:none;border-left:solid "
        "blue 1.5pt;padding:0cm 0cm 0cm 4.0pt'><div><div "
        "style='border:none;border-top:solid #E1E1E1 "
        "1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal><b>Lähettäjä:</b> Shop</p></div></div>"
        f"<p class=MsoNormal>{OLD_BR}</p></div></div>"
    ),
    "apple with a signature": (
        f'<body>{BR}<br id="lineBreakAtBeginningOfMessage"><div><div>-- </div><div>Mia</div></div>'
        f'<div><br><blockquote type="cite"><div>{ESCAPED}</div><br><div>{OLD_BR}</div></blockquote>'
        "</div><br></body>"
    ),
    "thunderbird below": (
        f'<div class="moz-cite-prefix">{ESCAPED}<br></div>{BLOCKQUOTE}<p>{BR}</p><pre class='
        '"moz-signature" cols="72">-- \nMia</pre>'
    ),
    "qq": (
        f"<div>{BR}</div><div><br></div><div><includetail><div "
        f"style='font-size: 12px'>----------------"
        "--&nbsp;原始邮件&nbsp;------------------</div><div "
        "style='background:#efefef'><div><b>发件人:"
        f"</b>&nbsp;shop</div></div><div>{OLD_BR}</div></includetail></div>"
    ),
    "a table around all": (
        f"<table width=100%><tr><td><div>{BR}</div><br>{ESCAPED}<br>{BLOCKQUOTE}</td></tr></table>"
    ),
    "nested quotations": (
        f"<p>{BR}</p><p>{ESCAPED}</p><blockquote><p>{OLD_BR}</p><blockquote>Hi</blockquote>"
        "</blockquote>"
    ),
    "no classes": f"{BR}<br><br>{ESCAPED}<br><blockquote>{OLD_BR}</blockquote>",
    "upper case": (
        f"<HTML><BODY><P>{BR}</P><P>{ESCAPED}</P><BLOCKQUOTE TYPE=CITE>{OLD_BR}</BLOCKQUOTE>"
    ),
    "a picture": (
        f'<div>{BR}<br><img src="cid:a@b" alt="shade.png"></div><p>{ESCAPED}</p>{BLOCKQUOTE}'
    ),
    "unclosed": f"<div>{BR}<p>{ESCAPED}<blockquote type=cite>{OLD_BR}",
    "spaces": f"\n  <div>\n   {BR}\n  </div>\n\n  <p>\n{ESCAPED}</p>\n {BLOCKQUOTE}\n",
    "tuta": (
        f"<div>{BR}</div><div><br></div><div>3. Nov. 2026, 10:12 von "
        f"{DESK}:</div><blockquote class="
        f'"tutanota_quote" style="border-left: 1px solid #93A3B8">{OLD_BR}</blockquote>'
    ),
}
PLAIN = {
    "an answer to a forwarded mail": (
        f"{SAID}\n\n{LINE}\n> ---------- Forwarded message ---------\n> From: Leo\n{quote(OLD)}"
    ),
    "a header within the quotation": (
        f"{SAID}\n\n{LINE}\n> From: Leo <leo@home.example>\n> Sent: "
        f"Monday\n> Subject: x\n{quote(OLD)}"
    ),
    "spaces before the marks": f"{SAID}\n\n{LINE}\n{quote(OLD, '  > ')}",
    "empty lines between the marks": f"{SAID}\n\n{LINE}\n\n> Your parcel\n\n> It comes on Friday.",
    "mail.ru": (
        f"{SAID}\n\n\n>Вторник, 3 ноября 2026, 10:12 +03:00 от Shop <{DESK}>:\n>\n"
        f"{quote(OLD, '>')}\n"
    ),
    "the address without a name": f"{SAID}\n\nOn 3/11/26 10:12, {DESK} wrote:\n{quote(OLD)}",
    "a quotation without end": f"{SAID}\n\n{LINE}\n{quote(OLD * 200)}",
    "deep": f"{SAID}\n\n{LINE}\n>>>>> Hi\n>>>> Hello\n>>> Yes\n{quote(OLD)}",
    "rule above the labels": (
        f"{SAID}\n\n{'-' * 40}\nVon: Shop <{DESK}>\nDatum: 3.11.2026\n"
        f"An: Mia\nBetreff: Paket\n\n{OLD}"
    ),
}
PHONES = {
    "samsung de": (
        "Bitte beim Nachbarn abgeben.",
        (
            "<div>Bitte beim Nachbarn abgeben.</div><div><br></div><div "
            'id="composer_signature"><div dir="auto">Von meinem/meiner Galaxy gesendet</div></div>'
            "<div><br></div><div>-------- Ursprüngliche Nachricht --------</div>"
            f"<div>Von: Shop &lt;{DESK}&gt; </div><div>Datum: 03.11.26  10:12  (GMT+01:00) </div>"
            f"mia@home.example </div><div>Betreff: Paket </div><div><br></div>{OLD_BR}"
        ),
    ),
    "samsung in an unknown language": (
        "Dydd Gwener, os gwelwch yn dda.",
        (
            "<div>Dydd Gwener, os gwelwch yn dda.</div><div><br></div><div id="
            '"composer_signature"><div>Anfonwyd o fy Galaxy</div></div><div><br></div>'
            f"{ESCAPED}{BLOCKQUOTE}"
        ),
    ),
    "yandex": (
        "Да, подходит.",
        (
            "<div>Да, подходит.</div><div><br></div><div>Отправлено из мобильной Яндекс Почты</div>"
            f"<div><br></div><div>12:12, 3 ноября 2026 г., Shop &lt;{DESK}&gt;:</div>"
            f'<blockquote class="210e7a848e8fcb45wmi-quote">{OLD_BR}</blockquote>'
        ),
    ),
    "yahoo for android": (
        "Confermo per venerdì.",
        (
            'Confermo per venerdì.<br><br><div id="ymail_android_signature"><a href='
            '"https://mail.example/107872968">Inviato da Yahoo Mail su Android</a></div> <br> '
            '<blockquote style="margin: 0 0 20px 0;"> <div style="color:#6D00F6;"> <div>Il mar, 3 '
            f"nov 2026 alle 10:12, Shop</div><div>&lt;{DESK}&gt; ha scritto:</div> </div> "
            f"<div> {OLD_BR}</div> </blockquote>"
        ),
    ),
}
ENTITIES = (
    "星期五可以收货。\n\n\n&nbsp;\n\n------------------&nbsp;原始邮件&nbsp;------------------\n"
    f'发件人:{" " * 80}"Shop"{" " * 60}<{DESK}&gt;;\n'
    "发送时间:&nbsp;2026年11月3日(星期二) 上午10:12\n收件人:&nbsp;<mia@home.example&gt;;\n\n"
    f"主题:&nbsp;送货\n\n\n\n{OLD}"
)
KEPT = {
    "an escaped line": f"{SAID}\n\n>From Monday on I am away.",
    "a size": "I need one with\n> 40 W",
    "greater than": "The price was\n> 30 EUR\nwhy?",
    "only thanks": "Thanks!",
    "an address and a time": "Write to mia@home.example by 10:12 on 3.11.2026:\nI wait.",
}


def newcomers() -> Iterator[Sample]:
    """All of them."""
    for name, html in MARKUP.items():
        data = mail(head("Re: Parcel"), part(html, "text/html"))
        yield Sample(name, data, SAID, "It comes on Friday.")
    for name, body in PLAIN.items():
        data = mail(head("Re: Parcel"), part(body))
        yield Sample(name, data, SAID, "It comes on Friday.")
    for name, (said, html) in PHONES.items():
        data = mail(head("Re: Parcel"), part(html, "text/html"))
        yield Sample(name, data, said, "It comes on Friday.")
    data = mail(head("Re: Parcel"), part(ENTITIES, charset="gb18030", encoding="base64"))
    yield Sample("qq with entities", data, "星期五可以收货。", "It comes on Friday.")
    for name, body in KEPT.items():
        yield Sample(f"kept: {name}", mail(head("Re: Parcel"), part(body)), body)
