"""Answers as mail programs write them, in the languages of their users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from tests.unit.transports.email.mail.corpus.builders import (
    DESK,
    NAME,
    Sample,
    breaks,
    divs,
    fill,
    head,
    header_block,
    html_header,
    mail,
    multipart,
    paragraphs,
    part,
    quote,
    wrap,
)
from tests.unit.transports.email.mail.corpus.languages import LANGUAGES, Language

SUBJECT = "Order 1042"


def gmail(words: Language) -> bytes:
    line = fill(words.gmail)
    plain = f"{words.said}\n\n{wrap(line)}\n\n{quote(words.old)}\n"
    html = (
        f'<div dir="ltr">{divs(words.said)}</div><br><div class="gmail_quote '
        f'gmail_quote_container">'
        f'<div dir="ltr" class="gmail_attr">{escape(line)}<br></div>'
        '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid '
        f'rgb(204,204,204);padding-left:1ex">{divs(words.old)}</blockquote></div>'
    )
    return mail(
        head(f"Re: {SUBJECT}"),
        multipart(
            "alternative",
            part(plain, encoding="base64"),
            part(html, "text/html", encoding="quoted-printable"),
            boundary="000000000000a1b2c3",
        ),
    )


def outlook_desktop(words: Language) -> bytes:
    subject = f"{words.prefix}: {SUBJECT}"
    plain = f"{words.said}\n\n{header_block(words.labels, words.sent, SUBJECT)} \n\n{words.old}\n"
    html = (
        '<html xmlns:o="urn:schemas-microsoft-com:office:office"><head>'
        "<!--[if gte mso 9]><xml><o:shapedefaults/></xml><![endif]-->"
        "<style><!-- p.MsoNormal {margin:0cm;} --></style></head>"
        f'<body lang=DE link="#0563C1"><div class=WordSection1>{paragraphs(words.said)}'
        "<p class=MsoNormal><o:p>&nbsp;</o:p></p><div><div style='border:none;"
        "border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal>"
        f"{html_header(words.labels, words.sent, SUBJECT)}<o:p></o:p></p></div></div>"
        f"{paragraphs(words.old)}</div></body></html>"
    )
    return mail(
        head(subject),
        multipart("alternative", part(plain), part(html, "text/html", encoding="base64")),
    )


def outlook_desktop_html(words: Language) -> bytes:
    """Without a plain text, as some servers pass it on."""
    data = outlook_desktop(words)
    html = data.split(b"\r\n--=_b1\r\n")[2].split(b"\r\n--=_b1--")[0]
    return mail(head(f"{words.prefix}: {SUBJECT}"), html)


def outlook_web(words: Language) -> bytes:
    plain = (
        f"{words.said}\n{'_' * 32}\n{header_block(words.labels, words.sent, SUBJECT)}\n\n"
        f"{words.old}\n"
    )
    html = (
        f'<html><head></head><body dir="ltr">{divs(words.said)}<div id="appendonsend"></div>'
        '<hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" '
        f'dir="ltr"><font face="Calibri">{html_header(words.labels, words.sent, SUBJECT)}</font>'
        f"<div>&nbsp;</div></div><div>{divs(words.old)}</div></body></html>"
    )
    return mail(
        head(f"{words.prefix}: {SUBJECT}"),
        multipart(
            "alternative",
            part(plain, encoding="quoted-printable"),
            part(html, "text/html", encoding="quoted-printable"),
            boundary="_000_AM0PR01MB",
        ),
    )


def outlook_web_html(words: Language) -> bytes:
    data = outlook_web(words)
    html = data.split(b"\r\n--_000_AM0PR01MB\r\n")[2].split(b"\r\n--_000_AM0PR01MB--")[0]
    return mail(head(f"{words.prefix}: {SUBJECT}"), html)


def apple_mail(words: Language) -> bytes:
    line = fill(words.apple)
    plain = f"{words.said}\n\n> {line}\n> \n{quote(words.old)}\n"
    html = (
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head>'
        f'<body style="overflow-wrap: break-word;">{divs(words.said)}<div><br><blockquote '
        f'type="cite"><div>{escape(line)}</div><br class="Apple-interchange-newline"><div>'
        f"{divs(words.old)}</div></blockquote></div><br></body></html>"
    )
    return mail(
        head(f"Re: {SUBJECT}", X_Mailer="Apple Mail (2.3776.700.51)"),
        multipart("alternative", part(plain), part(html, "text/html")),
    )


def ios(words: Language) -> bytes:
    line = fill(words.apple)
    plain = f"{words.said}\n\n{words.phone}\n\n> {line}\n> \n> \ufeff{quote(words.old)[2:]}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain, encoding="base64"))


def ios_html(words: Language) -> bytes:
    html = (
        f'<html><body dir="auto"><div dir="ltr">{divs(words.said)}<br id="lineBreakAtBeginningOf'
        f'Signature"><div dir="ltr">{escape(words.phone)}</div></div><div dir="ltr"><br><blockquote'
        f' type="cite">{escape(fill(words.apple))}<br><br></blockquote></div><blockquote '
        f'type="cite"><div dir="ltr">\ufeff{breaks(words.old)}</div></blockquote></body></html>'
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html"))


def thunderbird(words: Language) -> bytes:
    said = words.said.replace("\n\n", "\n\n")
    plain = f"{said}\n\n{fill(words.thunderbird)}\n{quote(words.old)}\n\n-- \nMia Example\n+49 1\n"
    return mail(
        head(f"Re: {SUBJECT}", User_Agent="Mozilla Thunderbird"),
        part(plain, parameters="; format=flowed"),
    )


def thunderbird_html(words: Language) -> bytes:
    html = (
        f"<!DOCTYPE html><html><head></head><body><p>{breaks(words.said)}</p>"
        f'<div class="moz-cite-prefix">{escape(fill(words.thunderbird))}<br></div>'
        f'<blockquote type="cite" cite="mid:out.1@shop.example"><pre wrap="" '
        f'class="moz-quote-pre">{escape(words.old)}</pre></blockquote>'
        '<div class="moz-signature">-- <br>Mia Example</div></body></html>'
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html"))


def samsung(words: Language) -> bytes:
    block = header_block(words.labels, words.sent, SUBJECT)
    plain = f"{words.said}\n\n\n-------- {words.original} --------\n{block}\n\n{words.old}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain, encoding="base64"))


def samsung_html(words: Language) -> bytes:
    html = (
        f"<html><body>{divs(words.said)}<div><br></div><div><br></div><div align=left dir=auto "
        f'style="font-size:100%;color:#000000"><div>-------- {escape(words.original)} --------'
        f"</div>{divs(header_block(words.labels, words.sent, SUBJECT))}<div><br></div></div>"
        f"{divs(words.old)}</body></html>"
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html"))


YAHOO = {
    "en": "On Tuesday, November 3, 2026 at 10:12:00 AM GMT+1, {n} <{a}> wrote:",
    "de": "Am Dienstag, 3. November 2026 um 10:12:00 MEZ hat {n} <{a}> Folgendes geschrieben:",
    "fr": "Le mardi 3 novembre 2026 à 10:12:00 UTC+1, {n} <{a}> a écrit :",
    "es": "El martes, 3 de noviembre de 2026, 10:12:00 CET, {n} <{a}> escribió:",
    "it": "Il martedì 3 novembre 2026 alle ore 10:12:00 CET, {n} <{a}> ha scritto:",
    "pt": "Em terça-feira, 3 de novembro de 2026 10:12:00 BRT, {n} <{a}> escreveu:",
}


def yahoo(words: Language, language: str) -> bytes:
    plain = f" {words.said}\n\n    {fill(YAHOO[language])}  \n \n {words.old}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain, encoding="quoted-printable"))


def yahoo_html(words: Language, language: str) -> bytes:
    html = (
        f'<html><body><div class="ydp1yahoo-style-wrap"><div dir="ltr">{breaks(words.said)}</div>'
        '<div><br></div></div><div id="ydp2yahoo_quoted_1" class="yahoo_quoted"><div style='
        f'"font-family:Helvetica"><div>{escape(fill(YAHOO[language]))}</div><div><br></div>'
        f"<div>{divs(words.old)}</div></div></div></body></html>"
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html"))


PROTON = {
    "en": "On Tuesday, November 3rd, 2026 at 10:12 AM, {n} <{a}> wrote:",
    "de": "Am Dienstag, 3. November 2026 um 10:12, {n} <{a}> schrieb:",
    "fr": "Le mardi 3 novembre 2026 à 10:12, {n} <{a}> a écrit :",
    "es": "El martes, 3 de noviembre de 2026 a las 10:12, {n} <{a}> escribió:",
}


def proton(words: Language, language: str) -> bytes:
    line = fill(PROTON[language])
    footer = "Sent with [Proton Mail](https://proton.me/) secure email."
    plain = f"{words.said}\n\n{footer}\n\n{line}\n\n{quote(words.old)}\n"
    html = (
        f'<div style="font-family: Arial">{breaks(words.said)}</div><div><br></div>'
        '<div class="protonmail_signature_block"><div>Sent with <a href="https://proton.me/">'
        f'Proton Mail</a> secure email.</div></div><div class="protonmail_quote">{escape(line)}'
        f'<br><blockquote class="protonmail_quote" type="cite">{breaks(words.old)}</blockquote>'
        "<br></div>"
    )
    return mail(
        head(f"Re: {SUBJECT}"), multipart("alternative", part(plain), part(html, "text/html"))
    )


def k9(words: Language, language: str) -> bytes:
    dates = {
        "en": "On November 3, 2026 10:12:00 AM GMT+01:00, {n} <{a}> wrote:",
        "de": "Am 3. November 2026 10:12:00 MEZ schrieb {n} <{a}>:",
        "fr": "Le 3 novembre 2026 10:12:00 GMT+01:00, {n} <{a}> a écrit :",
        "ru": "3 ноября 2026 г. 10:12:00 GMT+03:00, {n} <{a}> пишет:",
    }
    plain = f"{words.said}\n\n{fill(dates[language])}\n{quote(words.old, '>')}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain))


def gmx(words: Language, language: str) -> bytes:
    labels = {
        "de": ("Gesendet", "Von", "An", "Betreff"),
        "en": ("Sent", "From", "To", "Subject"),
        "es": ("Enviado", "De", "Para", "Asunto"),
        "fr": ("Envoyé", "De", "À", "Objet"),
    }[language]
    values = (words.sent, f'"{NAME}" &lt;{DESK}&gt;', "mia@home.example", SUBJECT)
    block = "<br>".join(
        f"<b>{label}:</b>&nbsp;{value}" for label, value in zip(labels, values, strict=True)
    )
    html = (
        f'<html><head></head><body><div style="font-family: Verdana"><div>{breaks(words.said)}'
        '</div><div>&nbsp;<div name="quote" style="margin:10px 5px 5px 10px; padding: 10px 0 10px '
        f'10px; border-left:2px solid #C3D9E5;"><div style="margin:0 0 10px 0;">{block}</div>'
        f'<div name="quoted-content">{breaks(words.old)}</div></div></div></div></body></html>'
    )
    return mail(head(f"Aw: {SUBJECT}"), part(html, "text/html"))


def gmx_plain(words: Language, language: str) -> bytes:
    labels = {
        "de": ("Gesendet", "Von", "An", "Betreff"),
        "en": ("Sent", "From", "To", "Subject"),
        "es": ("Enviado", "De", "Para", "Asunto"),
        "fr": ("Envoyé", "De", "À", "Objet"),
    }[language]
    values = (words.sent, f'"{NAME}" <{DESK}>', "mia@home.example", SUBJECT)
    block = "\n".join(f"{label}: {value}" for label, value in zip(labels, values, strict=True))
    return mail(head(f"Aw: {SUBJECT}"), part(f"{words.said}\n\n\n{block}\n{words.old}\n"))


def mutt(words: Language, language: str) -> bytes:
    lines = {
        "en": "On Tue, Nov 03, 2026 at 10:12:00AM +0100, {n} wrote:",
        "de": "* {n} <{a}> [2026-11-03 10:12]:",
        "cs": "Dne Tue, Nov 03, 2026 at 10:12:00 +0100, {n} napsal:",
        "pl": "Dnia wt, 03 lis 2026, {n} napisał:",
    }
    plain = f"{fill(lines[language])}\n{quote(words.old)}\n\n{words.said}\n\n-- \nMia\n"
    return mail(head(f"Re: {SUBJECT}", User_Agent="Mutt/2.2"), part(plain))


def hey(words: Language, language: str) -> bytes:
    html = (
        f'<div class="trix-content"><div>{breaks(words.said)}</div></div><br><blockquote><div>'
        f"On November 3, 2026, {NAME} &lt;{DESK}&gt; wrote:</div><br>{breaks(words.old)}"
        "</blockquote>"
    )
    plain = f"{words.said}\n\nOn November 3, 2026, {NAME} <{DESK}> wrote:\n{quote(words.old)}\n"
    return mail(
        head(f"Re: {SUBJECT}"), multipart("alternative", part(plain), part(html, "text/html"))
    )


def zoho(words: Language, language: str) -> bytes:
    line = f"---- On Tue, 03 Nov 2026 10:12:00 +0100 {NAME} <{DESK}> wrote ---"
    plain = f"{words.said}\n\n\n\n{line}\n\n{words.old}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain))


def zoho_html(words: Language, language: str) -> bytes:
    html = (
        f'<div style="font-family: Verdana;"><div>{breaks(words.said)}</div><div '
        f'class="zmail_extra_'
        f'hr"></div><br><div class="zmail_extra" data-zbluepencil-ignore="true"><br>---- On '
        f"Tue, 03 "
        f"Nov 2026 10:12:00 +0100 <b>{NAME} &lt;{DESK}&gt;</b> wrote ---<br><br><blockquote>"
        f"{breaks(words.old)}</blockquote></div></div>"
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html"))


def notes(words: Language, language: str) -> bytes:
    labels = {
        "en": ("From", "To", "Date", "Subject"),
        "de": ("Von", "An", "Datum", "Betreff"),
        "fr": ("De", "A", "Date", "Objet"),
    }[language]
    values = (f'"{NAME}" <{DESK}>', "<mia@home.example>", "03.11.2026 10:12", SUBJECT)
    block = "\n".join(f"{label}:   {value}" for label, value in zip(labels, values, strict=True))
    return mail(
        head(f"Antwort: {SUBJECT}"), part(f"{words.said}\n\n\n\n{block}\n\n\n\n{words.old}")
    )


def roundcube(words: Language, language: str) -> bytes:
    lines = {
        "en": "On 2026-11-03 10:12, {n} wrote:",
        "de": "Am 2026-11-03 10:12, schrieb {n}:",
        "fr": "Le 2026-11-03 10:12, {n} a écrit :",
        "pl": "W dniu 2026-11-03 10:12, {n} napisał(a):",
        "ru": "{n} писал 2026-11-03 10:12:",
        "cs": "Dne 2026-11-03 10:12, {n} napsal:",
    }
    plain = f"{words.said}\n\n{fill(lines[language])}\n{quote(words.old)}\n"
    return mail(head(f"Re: {SUBJECT}", User_Agent="Roundcube Webmail/1.6"), part(plain))


def netease(words: Language, language: str) -> bytes:
    line = f'At 2026-11-03 10:12:00, "{NAME}" <{DESK}> wrote:'
    return mail(
        head(f"Re:{SUBJECT}"),
        part(f"{words.said}\n\n\n\n\n\n\n\n{line}\n{quote(words.old, '>')}\n"),
    )


def qq(words: Language, language: str) -> bytes:
    block = (
        f'发件人: "{NAME}"<{DESK}>;\n发送时间: 2026年11月3日(星期二) 上午10:12\n'
        f'收件人: "mia"<mia@home.example>;\n主题: {SUBJECT}'
    )
    dashes = "-" * 18
    plain = f"{words.said}\n\n\n\n\n{dashes} 原始邮件 {dashes}\n{block}\n\n\n\n{words.old}\n"
    return mail(head(f"回复：{SUBJECT}"), part(plain, encoding="base64"))


def yandex(words: Language, language: str) -> bytes:
    html = (
        f'<div>{breaks(words.said)}</div><div> </div><div>03.11.2026, 10:12, "{NAME}" &lt;{DESK}'
        f"&gt;:</div><blockquote><p>{breaks(words.old)}</p></blockquote>"
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html", encoding="base64"))


def mail_ru(words: Language, language: str) -> bytes:
    html = (
        f'<HTML><BODY>{breaks(words.said)}<br><br><blockquote style="border-left:1px solid #0857A6;'
        f'margin:10px;padding:0 0 0 10px;">Вторник, 3 ноября 2026, 10:12 +03:00 от {NAME} '
        f"&lt;{DESK}"
        f'&gt;:<br><br><div id="">{breaks(words.old)}</div></blockquote></BODY></HTML>'
    )
    return mail(head(f"Re: {SUBJECT}"), part(html, "text/html", encoding="base64"))


def horde(words: Language, language: str) -> bytes:
    lines = {"de": "Zitat von {n} <{a}>:", "en": "Quoting {n} <{a}>:", "es": "{n} <{a}> escribió:"}
    plain = f"{words.said}\n\n\n{fill(lines[language])}\n\n{quote(words.old)}\n\n\n\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain, parameters="; format=flowed; DelSp=Yes"))


def evolution(words: Language, language: str) -> bytes:
    lines = {
        "en": "On Tue, 2026-11-03 at 10:12 +0100, {n} wrote:",
        "de": "Am Dienstag, dem 03.11.2026 um 10:12 +0100 schrieb {n}:",
        "sv": "tis 2026-11-03 klockan 10:12 +0100 skrev {n}:",
    }
    plain = f"{words.said}\n\n{fill(lines[language])}\n{quote(words.old)}\n"
    return mail(head(f"Re: {SUBJECT}"), part(plain, encoding="quoted-printable"))


def fastmail(words: Language, language: str) -> bytes:
    line = f"On Tue, 3 Nov 2026, at 10:12 AM, {NAME} wrote:"
    html = (
        f"<!DOCTYPE "
        f"html><html><body><div>{breaks(words.said)}</div><div><br></div><div>{line}</div>"
        f'<blockquote type="cite" id="qt" style="">{divs(words.old)}</blockquote></body></html>'
    )
    plain = f"{words.said}\n\n{line}\n{quote(words.old)}\n"
    return mail(
        head(f"Re: {SUBJECT}"), multipart("alternative", part(plain), part(html, "text/html"))
    )


EVERYWHERE: tuple[Callable[[Language], bytes], ...] = (
    gmail,
    outlook_desktop,
    outlook_desktop_html,
    outlook_web,
    outlook_web_html,
    apple_mail,
    ios,
    ios_html,
    thunderbird,
    thunderbird_html,
    samsung,
    samsung_html,
)
SOMEWHERE: tuple[tuple[Callable[[Language, str], bytes], str], ...] = (
    (yahoo, "en de fr es it pt"),
    (yahoo_html, "en de fr es it pt"),
    (proton, "en de fr es"),
    (k9, "en de fr ru"),
    (gmx, "de en es fr"),
    (gmx_plain, "de en es fr"),
    (mutt, "en de cs pl"),
    (hey, "en"),
    (zoho, "en es"),
    (zoho_html, "en es"),
    (notes, "en de fr"),
    (roundcube, "en de fr pl cs"),
    (netease, "zh"),
    (qq, "zh"),
    (yandex, "ru"),
    (mail_ru, "ru"),
    (horde, "de en es"),
    (evolution, "en de sv"),
    (fastmail, "en"),
)


def answers() -> Iterator[Sample]:
    """Every program in every language of its users."""
    for build in EVERYWHERE:
        for language, words in LANGUAGES.items():
            yield _sample(f"{build.__name__} {language}", build(words), words)
    for write, languages in SOMEWHERE:
        for language in languages.split():
            words = LANGUAGES[language]
            yield _sample(f"{write.__name__} {language}", write(words, language), words)


def _sample(name: str, data: bytes, words: Language) -> Sample:
    return Sample(name, data, words.said, words.old.split("\n")[1])
