"""What persons write in these mails, and the words of mail programs around it, by language."""

from __future__ import annotations

import msgspec


class Language(msgspec.Struct, frozen=True):
    """Words of a language; ``{n}`` is a name and ``{a}`` an address.

    Parameters:
        said: what the person writes.
        old: what they answer to.
        gmail, apple, thunderbird: the attribution of each.
        labels: From, Sent, To and Subject of Outlook.
        sent: a date of Outlook.
        phone: what a telephone adds.
        original: between dashes, above an original.
        forwarded: Gmail's line above a forwarded mail.
        prefix: of an answer's subject.
    """

    said: str
    old: str
    gmail: str
    apple: str
    thunderbird: str
    labels: tuple[str, str, str, str]
    sent: str
    phone: str
    original: str
    forwarded: str
    prefix: str = "Re"
    forward_prefix: str = "Fwd"


LANGUAGES = {
    "en": Language(
        "Hello,\n\ncould you change my order to two lamps?\nThe address stays the "
        "same.\n\nBest\nMia",
        "Dear customer,\nyour order has been received.\n\nYour shop",
        "On Tue, Nov 3, 2026 at 10:12 AM {n} <{a}> wrote:",
        "On 3 Nov 2026, at 10:12, {n} <{a}> wrote:",
        "On 03.11.26 10:12, {n} wrote:",
        ("From", "Sent", "To", "Subject"),
        "Tuesday, November 3, 2026 10:12 AM",
        "Sent from my iPhone",
        "Original message",
        "Forwarded message",
        forward_prefix="Fwd",
    ),
    "de": Language(
        "Guten Tag,\n\nkönnten Sie die Bestellung auf zwei Lampen ändern?\nDanke: die "
        "Anschrift bleibt."
        "\n\nViele Grüße\nMia",
        "Sehr geehrte Kundin,\nIhre Bestellung ist eingegangen.\n\nIhr Laden",
        "Am Di., 3. Nov. 2026 um 10:12 Uhr schrieb {n} <{a}>:",
        "Am 03.11.2026 um 10:12 schrieb {n} <{a}>:",
        "Am 03.11.26 um 10:12 schrieb {n}:",
        ("Von", "Gesendet", "An", "Betreff"),
        "Dienstag, 3. November 2026 10:12",
        "Von meinem iPhone gesendet",
        "Ursprüngliche Nachricht",
        "Weitergeleitete Nachricht",
        "AW",
        "WG",
    ),
    "fr": Language(
        "Bonjour,\n\npourriez-vous passer ma commande à deux lampes ?\nL'adresse reste la même.\n\n"
        "Cordialement\nMia",
        "Chère cliente,\nvotre commande est arrivée.\n\nVotre boutique",
        "Le mar. 3 nov. 2026 à 10:12, {n} <{a}> a écrit :",
        "Le 3 nov. 2026 à 10:12, {n} <{a}> a écrit :",
        "Le 03/11/2026 à 10:12, {n} a écrit :",
        ("De ", "Envoyé ", "À ", "Objet "),
        "mardi 3 novembre 2026 10:12",
        "Envoyé de mon iPhone",
        "Message d'origine",
        "Message transféré",
        "RE",
        "TR",
    ),
    "es": Language(
        "Hola:\n\n¿pueden cambiar mi pedido a dos lámparas?\nLa dirección es la misma.\n\nSaludos\n"
        "Mia",
        "Estimada cliente:\nhemos recibido su pedido.\n\nSu tienda",
        "El mar, 3 nov 2026 a las 10:12, {n} (<{a}>) escribió:",
        "El 3 nov 2026, a las 10:12, {n} <{a}> escribió:",
        "El 3/11/26 a las 10:12, {n} escribió:",
        ("De", "Enviado", "Para", "Asunto"),
        "martes, 3 de noviembre de 2026 10:12",
        "Enviado desde mi iPhone",
        "Mensaje original",
        "Mensaje reenviado",
        "RE",
        "RV",
    ),
    "it": Language(
        "Buongiorno,\n\npotete cambiare il mio ordine in due lampade?\nL'indirizzo è lo stesso.\n\n"
        "Saluti\nMia",
        "Gentile cliente,\nabbiamo ricevuto il suo ordine.\n\nIl negozio",
        "Il giorno mar 3 nov 2026 alle ore 10:12 {n} <{a}> ha scritto:",
        "Il giorno 3 nov 2026, alle ore 10:12, {n} <{a}> ha scritto:",
        "Il 03/11/2026 10:12, {n} ha scritto:",
        ("Da", "Inviato", "A", "Oggetto"),
        "martedì 3 novembre 2026 10:12",
        "Inviato da iPhone",
        "Messaggio originale",
        "Messaggio inoltrato",
        "R",
        "I",
    ),
    "pt": Language(
        "Bom dia,\n\npodem mudar a minha encomenda para dois candeeiros?\nA morada é a mesma.\n\n"
        "Obrigada\nMia",
        "Cara cliente,\nrecebemos a sua encomenda.\n\nA sua loja",
        "{n} <{a}> escreveu (terça, 3/11/2026 à(s) 10:12):",
        "No dia 3 de nov. de 2026, às 10:12, {n} <{a}> escreveu:",
        "Em 03/11/2026 10:12, {n} escreveu:",
        ("De", "Enviado", "Para", "Assunto"),
        "terça-feira, 3 de novembro de 2026 10:12",
        "Enviado do meu iPhone",
        "Mensagem original",
        "Mensagem encaminhada",
        "RES",
        "ENC",
    ),
    "nl": Language(
        "Hallo,\n\nkunt u mijn bestelling wijzigen in twee lampen?\nHet adres blijft hetzelfde.\n\n"
        "Groeten\nMia",
        "Geachte klant,\nuw bestelling is ontvangen.\n\nUw winkel",
        "Op di 3 nov 2026 om 10:12 schreef {n} <{a}>:",
        "Op 3 nov 2026, om 10:12 heeft {n} <{a}> het volgende geschreven:",
        "Op 03-11-2026 om 10:12 schreef {n}:",
        ("Van", "Verzonden", "Aan", "Onderwerp"),
        "dinsdag 3 november 2026 10:12",
        "Verstuurd vanaf mijn iPhone",
        "Oorspronkelijk bericht",
        "Doorgestuurd bericht",
    ),
    "pl": Language(
        "Dzień dobry,\n\nczy można zmienić zamówienie na dwie lampy?\nAdres bez "
        "zmian.\n\nPozdrawiam\n"
        "Mia",
        "Szanowna Pani,\notrzymaliśmy zamówienie.\n\nSklep",
        "wt., 3 lis 2026 o 10:12 {n} <{a}> napisał(a):",
        "Wiadomość napisana przez {n} <{a}> w dniu 3 lis 2026, o godz. 10:12:",
        "W dniu 3.11.2026 o 10:12, {n} pisze:",
        ("Od", "Wysłano", "Do", "Temat"),
        "wtorek, 3 listopada 2026 10:12",
        "Wysłane z iPhone'a",
        "Oryginalna wiadomość",
        "Wiadomość przekazana",
        "Odp",
        "PD",
    ),
    "sv": Language(
        "Hej!\n\nKan ni ändra min beställning till två lampor?\nAdressen är "
        "densamma.\n\nHälsningar\n"
        "Mia",
        "Hej kund,\nvi har fått din beställning.\n\nDin butik",
        "Den tis 3 nov. 2026 kl 10:12 skrev {n} <{a}>:",
        "3 nov. 2026 kl. 10:12 skrev {n} <{a}>:",
        "Den 2026-11-03 kl. 10:12, skrev {n}:",
        ("Från", "Skickat", "Till", "Ämne"),
        "den 3 november 2026 10:12",
        "Skickat från min iPhone",
        "Originalmeddelande",
        "Vidarebefordrat meddelande",
        "SV",
        "VB",
    ),
    "cs": Language(
        "Dobrý den,\n\nmohli byste změnit objednávku na dvě lampy?\nAdresa zůstává "
        "stejná.\n\nDěkuji\n"
        "Mia",
        "Vážená zákaznice,\nobjednávku jsme přijali.\n\nVáš obchod",
        "út 3. 11. 2026 v 10:12 odesílatel {n} <{a}> napsal:",
        "3. 11. 2026 v 10:12, {n} <{a}>:",
        "Dne 03. 11. 26 v 10:12 {n} napsal(a):",
        ("Od", "Odesláno", "Komu", "Předmět"),
        "úterý 3. listopadu 2026 10:12",
        "Odesláno z iPhonu",
        "Původní zpráva",
        "Přeposlaná zpráva",
    ),
    "ru": Language(
        "Здравствуйте,\n\nможно изменить заказ на две лампы?\nАдрес прежний.\n\nС уважением\nМия",
        "Уважаемая покупательница,\nваш заказ получен.\n\nВаш магазин",
        "вт, 3 нояб. 2026 г. в 10:12, {n} <{a}>:",
        "3 нояб. 2026 г., в 10:12, {n} <{a}> написал(а):",
        "03.11.2026 10:12, {n} пишет:",
        ("От", "Отправлено", "Кому", "Тема"),
        "3 ноября 2026 г. 10:12",
        "Отправлено с iPhone",
        "Исходное сообщение",
        "Пересылаемое сообщение",
        "Отв",
    ),
    "ja": Language(
        "お世話になっております。"
        "\n\n注文をランプ二つに変更できますか。\n住所は同じです。\n\nよろしく"
        "お願いいたします。\n美亜",
        "お客様\nご注文を承りました。\n\n店舗",
        "2026年11月3日(火) 10:12 {n} <{a}>:",
        "2026/11/03 10:12、{n} <{a}>のメール:",
        "On 2026/11/03 10:12, {n} wrote:",
        ("差出人", "送信日時", "宛先", "件名"),
        "2026年11月3日 10:12",
        "iPhoneから送信",
        "元のメッセージ",
        "転送メッセージ",
        "Re",
        "転送",
    ),
    "zh": Language(
        "您好，\n\n能把我的订单改成两盏灯吗？\n地址不变。\n\n谢谢\n米娅",
        "尊敬的顾客：\n您的订单已收到。\n\n商店",
        "{n} <{a}> 于2026年11月3日周二 10:12写道：",
        "在 2026年11月3日，10:12，{n} <{a}> 写道：",
        "在 2026/11/3 10:12, {n} 写道:",
        ("发件人", "发送时间", "收件人", "主题"),
        "2026年11月3日 10:12",
        "发自我的iPhone",
        "原始邮件",
        "转发的邮件",
        "回复",
        "转发",
    ),
    "ko": Language(
        "안녕하세요,\n\n주문을 램프 두 개로 바꿀 수 있나요?\n"
        "주소는 그대로입니다.\n\n감사합니다\n미아",
        "고객님,\n주문이 접수되었습니다.\n\n상점",
        "2026년 11월 3일 (화) 오전 10:12, {n} <{a}>님이 작성:",
        "2026. 11. 3. 오전 10:12, {n} <{a}> 작성:",
        "2026-11-03 10:12에 {n} 이(가) 쓴 글: {n} wrote:",
        ("보낸 사람", "보낸 날짜", "받는 사람", "제목"),
        "2026년 11월 3일 화요일 오전 10:12",
        "나의 iPhone에서 보냄",
        "원본 메시지",
        "전달된 메시지",
        "답장",
        "전달",
    ),
    "tr": Language(
        "Merhaba,\n\nsiparişimi iki lamba olarak değiştirebilir misiniz?\nAdres "
        "aynı.\n\nSaygılar\nMia",
        "Sayın müşterimiz,\nsiparişiniz alındı.\n\nMağazanız",
        "{n} <{a}>, 3 Kas 2026 Sal, 10:12 tarihinde şunu yazdı:",
        "{n} <{a}> şunları yazdı (3 Kas 2026 10:12):",
        "3.11.2026 10:12 tarihinde {n} yazdı:",
        ("Kimden", "Gönderildi", "Kime", "Konu"),
        "3 Kasım 2026 Salı 10:12",
        "iPhone'umdan gönderildi",
        "Orijinal mesaj",
        "Yönlendirilen mesaj",
        "YNT",
        "İLT",
    ),
}
