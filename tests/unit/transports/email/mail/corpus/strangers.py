"""Mails in shapes for which no rule was made: written after the rules."""

from __future__ import annotations

from collections.abc import Iterator

from tests.unit.transports.email.mail.corpus.builders import DESK, Sample, head, mail, part, quote

SAID = "Moving to Friday suits me.\nCan the courier ring twice?"
OLD = "We come on Thursday.\nIs that fine?"
SHOP = "Anna-Lena von der Heide-Kowalski"

ATTRIBUTED = {
    "gmail de in three lines": (
        "Am Di., 3. Nov. 2026 um 10:12 Uhr schrieb Anna-Lena von der Heide-Kowalski\n(Kundendienst "
        "und Versand) <\ndesk@shop.example>:\n"
    ),
    "gmail da": f"Den tirs. 3. nov. 2026 kl. 10.12 skrev {SHOP} <{DESK}>:\n",
    "gmail no": f"tir. 3. nov. 2026 kl. 10:12 skrev {SHOP} <{DESK}>:\n",
    "gmail fi": f"ti 3. marrask. 2026 klo 10.12 {SHOP} ({DESK}) kirjoitti:\n",
    "gmail hu": f"{SHOP} <{DESK}> ezt írta (időpont: 2026. nov. 3.,\nK, 10:12):\n",
    "gmail ro": f"mar., 3 nov. 2026, 10:12 {SHOP} <{DESK}> a\nscris:\n",
    "gmail el": f"Στις Τρί 3 Νοε 2026 στις 10:12 π.μ., ο χρήστης {SHOP} <\n{DESK}> έγραψε:\n",
    "gmail uk": f"вт, 3 лист. 2026 р. о 10:12 {SHOP} <{DESK}> пише:\n",
    "gmail he": (
        f"\u202bבתאריך יום ג׳, 3 בנוב׳ 2026 ב-10:12 מאת \u202a{SHOP}\u202c\u200f "
        f"<\u202a{DESK}\u202c\u200f>:\u202c\n"
    ),
    "gmail ar": f"في الثلاثاء، 3 نوفمبر 2026 في 10:12 ص تمت كتابة ما يلي بواسطة {SHOP} <{DESK}>:\n",
    "gmail vi": f"Vào Th 3, 3 thg 11, 2026 vào lúc 10:12 {SHOP} <{DESK}>\nđã viết:\n",
    "gmail th": f"ในวันที่ อ. 3 พ.ย. 2026 เวลา 10:12 {SHOP} <{DESK}> เขียนว่า:\n",
    "gmail id": f"Pada tanggal Sel, 3 Nov 2026 pukul 10.12 {SHOP} <{DESK}>\nmenulis:\n",
    "spark": f"On 3 Nov 2026 at 10:12 +0100, {SHOP} <{DESK}>, wrote:",
    "mailspring": f"On Nov 3 2026, at 10:12 am, {SHOP} <{DESK}> wrote:",
    "tutanota": f"3. Nov. 2026, 10:12 von {DESK}:\n",
    "alpine": f"On Tue, 3 Nov 2026, {SHOP} wrote:\n",
    "gnus": f"{SHOP} <{DESK}> writes:\n",
    "becky": f"On Tue, 03 Nov 2026 10:12:00 +0900\n{SHOP} <{DESK}> wrote:\n",
    "notes": f"{SHOP}/Shop/DE wrote on 03.11.2026 10:12:00:\n",
    "wp.pl": f"Dnia 3 listopada 2026 10:12 {SHOP} <{DESK}> napisał(a):\n",
    "libero": f"Il 03/11/2026 10:12 CET {SHOP} <{DESK}> ha scritto:\n\n",
    "163": f'在 2026-11-03 10:12:00，"{SHOP}" <{DESK}> 写道：\n',
}
INSIDE = {
    "orange": f'Message du 03/11/26 10:12\nDe : "{SHOP}" <{DESK}>\nA : mia\nObjet : Livraison\n',
    "open-xchange": f"{SHOP} <{DESK}> hat am 03.11.2026 10:12 CET geschrieben:\n\n",
}
HEADED = {
    "outlook for mac": (
        f"From: {SHOP} <{DESK}>\nDate: Tuesday, 3 November 2026 at 10:12\nTo: Mia "
        "<mia@home.example>\nSubject: Delivery"
    ),
    "outlook pt-BR": (
        f"De: {SHOP} <{DESK}>\nEnviada em: terça-feira, 3 de novembro de 2026 10:12\nPara: "
        "mia@home.example\nAssunto: Entrega"
    ),
    "zimbra": (
        f'----- Original Message -----\nFrom: "{SHOP}" <{DESK}>\nTo: "Mia" <mia@home.example>\n'
        "Sent: Tuesday, November 3, 2026 10:12:00 AM\nSubject: Delivery"
    ),
    "em client": (
        f'------ Original Message ------\nFrom "{SHOP}" <{DESK}>\nTo mia@home.example\nDate '
        "03/11/2026 10:12:00\nSubject Delivery"
    ),
    "windows mail": (
        f"Gesendet von Mail für Windows\n\nVon: {SHOP}\nGesendet: "
        f"Dienstag, 3. November 2026 10:12\n"
        "An: Mia\nBetreff: Lieferung"
    ),
    "blackberry": (
        "Sent from my BlackBerry 10 smartphone.\n  Original Message  \nFrom: "
        f"{SHOP}\nSent: Tuesday, November 3, 2026 10:12 AM\nTo: Mia\nReply To: {DESK}\nSubject: "
        "Delivery"
    ),
    "foxmail": (
        f"\xa0\n发件人：\xa0{SHOP}\n发送时间：\xa02026-11-03\xa010:12\n"
        f"收件人：\xa0mia\n主题：\xa0Re: 送货"
    ),
    "naver": (
        f'-----Original Message-----\nFrom: "{SHOP}" <{DESK}>\nTo: <mia@home.example>;\nCc:\nSent: '
        "2026-11-03 (화) 10:12:00 (UTC+09:00)\nSubject: 배송"
    ),
    "seznam": (
        f"---------- Původní e-mail ----------\nOd: {SHOP} <{DESK}>\n"
        f"Komu: mia@home.example\nDatum: "
        "3. 11. 2026 10:12:00\nPředmět: Doručení"
    ),
    "t-online": (
        "-----Original-Nachricht-----\nBetreff: Lieferung\nDatum: 2026-11-03T10:12:00+0100\nVon: "
        f'"{SHOP}" <{DESK}>\nAn: "mia@home.example" <mia@home.example>'
    ),
    "yahoo on android": (
        f"Sent from Yahoo Mail on Android \n \n  On Tue, Nov 3, 2026 "
        f"at 10:12, {SHOP}<{DESK}> wrote: "
        "  "
    ),
    "alibaba": (
        f"{'-' * 66}\n发件人：{SHOP} <{DESK}>\n发送时间：2026年11月3日(星期二) 10:12\n收件人：mia "
        "<mia@home.example>\n主　题：送货"
    ),
}
WHOLE = {
    "a chat": "[03.11.26, 10:12] Mia: hello\n[03.11.26, 10:13] Shop: hi\nYou promised Friday.",
    "steps": "To reproduce:\n\n1. Open: the cart\n2. Click:\n\n> Pay\n\n3. Nothing happens:",
    "a table": "Item: Lamp\nDate: 3 Nov 2026\nFrom: your shop in Berlin\nPlease refund it.",
    "a log": "Here is it:\n\n2026-11-03 10:12:00 mia@home.example:\nlogin failed\n\nWhat now?",
    "a P.S.": "Friday is fine.\n\nMia\n\nP.S. Sent from the train: the phone had no signal.",
    "a question": "Did you write:\n\nWe come on Thursday?",
    "a rule and a list": "Open points:\n---\nLamp: green\nShade: red\n---\nPlease confirm.",
    "markdown": "# Order\n\n> note: two lamps\n\n- green\n- red\n\n-- Mia",
    "notice": "I got this notice: confidential, for the intended recipient. Was it error of yours?",
    "sentence": "Your mail of 3 Nov 2026, 10:12 from desk@shop.example says:\nno delivery.\nWhy?",
}


LEFT = {
    "an attribution without a verb or an address": (
        f"{SAID}\n\n{SHOP} (03.11.2026 10:12):\n{quote(OLD)}",
        "",
    ),
    "initials before the marks": (
        f'{SAID}\n\n>>>>> "A" == {SHOP} <{DESK}> writes:\n\nA> We come.\nA> Is that fine?',
        "",
    ),
    "an unknown disclaimer": (
        f"{SAID}\n\nDieses Dokument ist vertraulich. Sind Sie nicht der Empfänger, löschen Sie es.",
        f"\n\nOn 3 Nov 2026 at 10:12, {SHOP} wrote:\n{quote(OLD)}",
    ),
}
"""What is left in for want of a rule: the text that is left, and what is trimmed below it."""


def strangers() -> Iterator[Sample]:
    """All of them."""
    for name, line in ATTRIBUTED.items():
        body = f"{SAID}\n\n{line}\n{quote(OLD)}\n"
        yield Sample(name, mail(head("Re: Delivery"), part(body)), SAID, "Is that fine?")
    for name, line in INSIDE.items():
        body = f"{SAID}\n\n{quote(line + OLD)}\n"
        yield Sample(name, mail(head("Re: Delivery"), part(body)), SAID, "Is that fine?")
    for name, block in HEADED.items():
        body = f"{SAID}\n\n{block}\n\n{OLD}\n"
        yield Sample(name, mail(head("Re: Delivery"), part(body)), SAID, "Is that fine?")
    for name, text in WHOLE.items():
        yield Sample(name, mail(head("Delivery", is_reply=False), part(text)), text)
        yield Sample(f"{name}, in a reply", mail(head("Re: Delivery"), part(text)), text)
    html = (
        f'<div>{SAID.replace(chr(10), "<br>")}</div><hr id="zwchr" data-marker="__DIVIDER__"><div '
        f'data-marker="__HEADERS__"><b>From: </b>{SHOP}<br><b>To: </b>Mia<br></div><div>{OLD}</div>'
    )
    yield Sample("zimbra html", mail(head("Re: x"), part(html, "text/html")), SAID, "Is that fine?")
    html = (
        f'<div dir="auto">{SAID.replace(chr(10), "<br>")}</div><br><blockquote class="front-'
        f'blockquote"><div>On November 3, 2026 at 10:12 AM GMT+1 {DESK} wrote:</div><br>{OLD}'
        "</blockquote>"
    )
    yield Sample("front", mail(head("Re: x"), part(html, "text/html")), SAID, "Is that fine?")
    body = f"{SAID}\n\nSent via Superhuman iOS<https://sprh.mn/?vip=x>\n\nOn Tue, Nov 03, 2026 at "
    body += f"10:12 AM, {SHOP} <{DESK}> wrote:\n\n{quote(OLD)}"
    yield Sample("superhuman", mail(head("Re: x"), part(body)), SAID, "Is that fine?")
