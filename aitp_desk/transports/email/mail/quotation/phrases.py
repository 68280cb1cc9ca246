"""What mail programs write around quotations, in the languages of their users.

Words are lower case. A program that is missing here leaves its quotation in; a phrase that people
write themselves would cut their words, so only those stand here that programs write.
"""

from __future__ import annotations

import re

WROTE = re.compile(
    r"\b(?:wrote|writes|schrieb(?:en)?|geschrieben|a\s+[eé]crit|[eé]crivait|escribi[oó]|escribe"
    r"|ha\s+scritto|scrisse|escreveu|schreef|geschreven|napisał(?:\(a\)|a|/a)?|pisze"
    r"|skrev|kirjoitti|napsal(?:\(a\)|a)?|napísal(?:\(a\)|a)?|píše|yazdı|írta|a\s+scris"
    r"|έγραψε|написала?|написал\(а\)|пишет|пише|написав|написала|написа|пиша|va\s+escriure"
    r"|menulis|đã\s+viết|viết|je\s+napisa[ol]|napisao|rakstīja|rašė|kirjutas|skrifaði"
    r"|quoting|zitat\s+von|citando)\b"
    r"|写道|寫道|編寫|のメール|さんは書きました|書きました|작성|님이\s*쓴|כתב|كتب|เขียน",
    re.IGNORECASE,
)
"""Verbs of the line that says who wrote what follows."""

FIRST_PERSON = re.compile(
    r"\bi\s+wrote|\b(?:schrieb|habe)\s+ich\b|\bich\s+schrieb|j'(?:ai\s+écrit|écrivais)|\bescribí\b"
    r"|\bho\s+scritto|\bescrevi\b|\bschreef\s+ik\b|\bik\s+schreef|\bnapisał[ea]m\b"
    r"|\bя\s+(?:написал|писал)|\bskrev\s+jag\b|\bjag\s+skrev",
    re.IGNORECASE,
)

BEGINS = re.compile(
    r"[-\s*_\"]*(?:on|am|le|el|il|em|op|a|w\s+dniu|dnia|dne|dňa|den|d\.|på|kl\.|în|pe|в|у|на|στις"
    r"|dana|vào|pada|zitat|quoting|在|於|于|mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so"
    r"|lun|mar|mer|jeu|ven|sam|dim|seg|ter|qua|qui|sex|dom|sáb|pon|wt|śr|czw|pt|sob|niedz|po|út"
    r"|st|čt|pá|ne|ma|ti|ke|to|pe|la|su|пн|вт|ср|чт|пт|сб|вс|нд)\b"
    r"|[-\s*_\"]*(?:\d{1,2}|(?:19|20|25)\d\d)[\s./年년-]",
    re.IGNORECASE,
)
"""How such a line begins: with a preposition, a weekday or a date."""

ORIGINAL = frozenset(
    "original message|original e-mail|original email|original mail|original|reply message"
    "|originalnachricht|ursprüngliche nachricht|ursprüngliche mail|original-nachricht"
    "|message d'origine|message d’origine|message original|message initial|courriel original"
    "|mensaje original|messaggio originale|messaggio originario|mensagem original"
    "|oorspronkelijk bericht|origineel bericht|oorspronkelijke bericht"
    "|wiadomość oryginalna|oryginalna wiadomość|ursprungligt meddelande|originalmeddelande"
    "|oprindelig meddelelse|original meddelelse|opprinnelig melding|alkuperäinen viesti"
    "|původní zpráva|původní e-mail|pôvodná správa|özgün ileti|orijinal mesaj|orijinal ileti"
    "|eredeti üzenet|mesaj original|mesajul original|αρχικό μήνυμα"
    "|исходное сообщение|оригинальное сообщение|исходное письмо|початкове повідомлення"
    "|оригінальне повідомлення|оригинално съобщение|missatge original|izvorna poruka"
    "|元のメッセージ|オリジナルメッセージ|原始邮件|原邮件|原始郵件|原始信件|원본 메시지|원본 메일"
    "|الرسالة الأصلية|הודעה מקורית|tin nhắn gốc|thư gốc|pesan asli".split("|")
)
"""Between dashes, above a quoted mail."""

FORWARDED = frozenset(
    "forwarded message|forwarded mail|forwarded email|begin forwarded message|forwarded by"
    "|weitergeleitete nachricht|weitergeleitete mail|anfang der weitergeleiteten nachricht"
    "|anfang der weitergeleiteten e-mail|weitergeleitete e-mail"
    "|message transféré|message transmis|début du message transféré|début du message réexpédié"
    "|mensaje reenviado|inicio del mensaje reenviado|mensaje remitido"
    "|messaggio inoltrato|inizio messaggio inoltrato|messaggio inoltrato da"
    "|mensagem encaminhada|mensagem reencaminhada|início da mensagem encaminhada"
    "|início da mensagem reencaminhada|doorgestuurd bericht|begin doorgestuurd bericht"
    "|wiadomość przekazana|treść przekazanej wiadomości|przekazana wiadomość"
    "|początek przekazywanej wiadomości|vidarebefordrat meddelande"
    "|vidarebefordrat brev|videresendt meddelelse|videresendt melding|välitetty viesti"
    "|přeposlaná zpráva|preposlaná správa|iletilen ileti|iletilmiş mesaj|yönlendirilen mesaj"
    "|továbbított üzenet|mesaj redirecționat|προωθημένο μήνυμα"
    "|пересылаемое сообщение|пересланное сообщение|начало переадресованного сообщения"
    "|переслане повідомлення|missatge reenviat|転送メッセージ|転送されたメッセージ"
    "|转发邮件|转发的邮件|轉寄郵件|轉寄的郵件|轉寄訊息|전달된 메시지|전달된 메일"
    "|رسالة معاد توجيهها|הודעה שהועברה|chuyển tiếp|tin nhắn được chuyển tiếp".split("|")
)
"""Between dashes or before a colon, above a mail that is passed on."""

_LABELS = {
    "from": "from|von|de|da|van|od|från|fra|lähettäjä|kimden|gönderen|feladó|de la|expeditor|από"
    "|от|від|від кого|от кого|差出人|送信者|发件人|寄件者|寄件人|보낸 사람|보낸사람|מאת|من|จาก|dari"
    "|từ|expéditeur|remitente|mittente|remetente|afzender|absender|nadawca|odesílatel|odosielateľ",
    "date": "sent|date|gesendet|datum|envoyé|date d'envoi|enviado|enviado el|enviada|enviada em"
    "|fecha|data|inviato|data invio|verzonden|wysłano|wysłane|data wysłania|skickat|sendt|dato"
    "|lähetetty|päiväys|päivämäärä|odesláno|odoslané|gönderildi|gönderilme|tarih|gönderme tarihi"
    "|elküldve|küldve|dátum|trimis|trimis la|dată|στάλθηκε|ημερομηνία|отправлено|отправлен|дата"
    "|надіслано|изпратено|送信日時|日付|発信日時|发送时间|发送日期|日期|寄件日期|傳送時間|时间"
    "|보낸 날짜|날짜|נשלח|תאריך|تاريخ|تم الإرسال|วันที่|tanggal|dikirim|ngày|đã gửi|date sent",
    "to": "to|an|à|pour|para|a|al|aan|do|till|til|vastaanottaja|komu|pre|kime|alıcı|címzett|către"
    "|la|προς|кому|до|宛先|收件人|받는 사람|받는사람|אל|إلى|ถึง|kepada|đến|destinataire"
    "|destinatario|destinatário|empfänger|ontvanger",
    "cc": "cc|kopie|kopia|copie|copie à|kopi|kopio|kopie (cc)|копия|копія|抄送|副本|참조|כן|عضو"
    "|másolat|bilgi|dw|udw|bcc|κοιν.|כתובת",
    "subject": "subject|betreff|objet|asunto|oggetto|assunto|onderwerp|temat|ämne|emne|aihe"
    "|předmět|predmet|konu|tárgy|subiect|θέμα|тема|относно|件名|主题|主題|主旨|제목|נושא|موضوع"
    "|الموضوع|เรื่อง|subjek|perihal|chủ đề|betr.|re",
}
LABELS = {label: role for role, labels in reversed(_LABELS.items()) for label in labels.split("|")}
"""The role of a label that programs write above a quoted mail."""
LONGEST_LABEL = max(map(len, LABELS))

REPLY_ABOVE = re.compile(
    r"(?:reply|respond|write)\s+(?:your\s+\w+\s+)?above\s+this\s+line|above\s+this\s+line\s+to\s+"
    r"reply|antwort\s+über\s+dieser\s+(?:zeile|linie)|oberhalb\s+dieser\s+(?:zeile|linie)"
    r"|au-dessus\s+de\s+cette\s+ligne|encima\s+de\s+esta\s+línea|sopra\s+questa\s+riga"
    r"|acima\s+desta\s+linha|boven\s+deze\s+(?:regel|lijn)|powyżej\s+tej\s+linii"
    r"|выше\s+этой\s+(?:линии|строки)|この行より上|在此行上方|请在此行以上",
    re.IGNORECASE,
)

ANSWERS_BELOW = re.compile(
    r"\b(?:in[\s-]?line|in\s+(?:red|blue|green|bold|colou?r)|(?:see|comments?|answers?|repl(?:y|ies)"
    r"|responses?|notes?)\b.{0,40}\bbelow|below\s+(?:in|are)|between\s+the\s+lines"
    r"|(?:siehe|s\.)\s+unten|(?:antwort|anmerkung|kommentar)\w*\b.{0,40}\b(?:unten|im\s+text)"
    r"|in\s+(?:rot|blau|grün|fett)|zwischen\s+den\s+zeilen|weiter\s+unten"
    r"|ci-dessous|en\s+(?:rouge|bleu|vert|gras)|dans\s+le\s+texte|plus\s+bas"
    r"|en\s+(?:rojo|azul|verde|negrita)|más\s+abajo|a\s+continuación|abajo"
    r"|in\s+(?:rosso|blu|verde|grassetto)|qui\s+sotto|di\s+seguito|em\s+(?:vermelho|azul|verde)"
    r"|(?:em|mais)\s+(?:baixo|abaixo)|abaixo|in\s+het\s+(?:rood|blauw)|hieronder|zie\s+onder"
    r"|na\s+(?:czerwono|niebiesko)|poniżej|nedan|nedenfor|ниже|красным|нижче)\b"
    r"|下記|以下|赤字|下面|红字|紅字|아래",
    re.IGNORECASE,
)
"""Who writes so answers within the quoted text."""

DEVICE = re.compile(
    r"iphon|ipad|ipod|apple\s+watch|android|samsung|galaxy|huawei|xiaomi|redmi|oneplus|oppo|pixel"
    r"|nokia|sony|xperia|motorola|lg\b|htc|blackberry|windows|outlook|mail|telefon|téléphone"
    r"|teléfono|telefono|telefone|phone|mobile|handy|smartphone|tablet|móvil|celular|mobiel"
    r"|komórk|puhelin|matkapuhelin|телефон|смартфон|смартфону|手机|手機|スマートフォン|携帯|휴대폰"
    r"|yahoo|gmail|proton|gmx|web\.de|spark|k-9|thunderbird|hey|airmail|fastmail|tutanota|tuta"
    r"|zoho|mailbird|superhuman|canary|edison|aquamail|nine|typeapp|bluemail|posteo|mac\b|macbook"
    r"|ai assistant|avast|avg\b|antivir|яндекс|yandex|почт[аеуы]\b",
    re.IGNORECASE,
)
SENT_FROM = re.compile(
    r"(?:sent\s+(?:from|via|with|using|by)|gesendet\s+(?:mit|von|über|via|aus)"
    r"|envoyé\s+(?:de|depuis|à\s+partir|avec|via|par)|enviad[oa]\s+(?:desde|con|por|mediante|via"
    r"|do|da|de|a\s+partir|pelo|pela|com)|inviat[oa]\s+(?:da|dal|con|tramite)"
    r"|(?:verzonden|verstuurd)\s+(?:vanaf|met|via|vanuit)|wysłan[eoay]\s+(?:z|ze|za)"
    r"|(?:skickat|skickades)\s+(?:från|med|via)|sendt\s+(?:fra|med|via)|lähetetty"
    r"|(?:odesláno|odoslané)\s+(?:z|ze|zo|pomocí|pomocou)|trimis\s+(?:de|din|cu)|elküldve"
    r"|στάλθηκε\s+από|отправлено\s+(?:с|из|через|от)|надіслано\s+(?:з|із|через)"
    r"|изпратено\s+(?:от|с)|poslano\s+(?:s|sa|iz|z)|enviat\s+(?:des|amb)"
    r"|dikirim\s+(?:dari|menggunakan)|được\s+gửi\s+từ|gửi\s+từ"
    r"|diese\s+nachricht\s+wurde\s+(?:von|mit))\b"
    r"|(?:发自|發自|从我的|從我的|来自我的|傳送自|寄自)|(?:나의|내)\s",
    re.IGNORECASE,
)
"""How a line begins that a telephone adds below a mail; a device or a program must follow."""
PRONOUN = re.compile(
    r"\s(?:i|we|you|it|ich|wir|sie|es|je|nous|vous|yo|io|eu|ik|wij|ja|я|мы|вы)\s", re.IGNORECASE
)
"""Of a person, in the nominative: a program's line has none."""
PROGRAM_LINE = re.compile(
    r"(?:get|hol\w*\s+\w+\s+\w+|télécharger|obtenir|obtener|obtén|ottieni|scarica|obter(?:\s+o)?"
    r"|outlook|download|pobierz(?:\s+program)?|hämta|hanki|hent|получить|скачать)?\s*"
    r"outlook\s+(?:for|für|pour|para|per|voor|dla|för|til|для)\s+(?:ios|android|mac|windows)"
    r"(?:\s*<\S*)?\s*(?:herunterladen|ophalen|downloaden)?\W*"
    r"|(?:virus-free|virenfrei|sans\s+virus|libre\s+de\s+virus|privo\s+di\s+virus)\W.*"
    r"|(?:diese\s+e-?mail\s+wurde\s+von|this\s+e-?mail\s+has\s+been\s+checked\s+for\s+vir"
    r"|cet\s+e-?mail\s+a\s+été\s+vérifié|este\s+correo\s+\w+\s+ha\s+sido\s+analizado).*"
    r"|yahoo\s+mail\s*:.*"
    r"|von\s+(?:meine[mr](?:/meine[mr])?\s+.{1,40}|unterwegs)\s+(?:aus\s+)?(?:gesendet|geschickt|versendet)\W*"
    r"|.{0,20}(?:iphone|ipad|android|スマートフォン|携帯).{0,20}(?:から送信|에서\s*보냄|gönderildi)\W*"
    r"|.{1,30}(?:iphone|ipad|android|telefon|galaxy)\S*\s+(?:küldve|elküldve)\W*",
    re.IGNORECASE,
)
"""Lines that a program adds below a mail."""

DISCLAIMER_BEGINS = re.compile(
    r"[\W_]*(?:confidentiality\s+(?:notice|note|statement)|disclaimer|legal\s+notice|privileged"
    r"|confidential\b"
    r"|this\s+(?:e-?mail|message|communication|transmission)\b"
    r"|the\s+(?:information|contents?)\s+(?:contained\s+)?(?:in|of)\s+this"
    r"|(?:diese|die\s+in\s+dieser)\s+(?:e-?mail|nachricht|mail)\b"
    r"|ce\s+(?:message|courriel|mail)\b|les?\s+informations?\s+contenues?"
    r"|este\s+(?:mensaje|correo|e-?mail)\b|la\s+información\s+contenida|esta\s+mensagem\b"
    r"|(?:il|la)\s+(?:presente|contenuto|informazion)|le\s+informazioni\s+contenute"
    r"|questo\s+messaggio\b|(?:deze|dit)\s+(?:e-?mail|bericht)\b|de\s+informatie\b"
    r"|(?:ta|niniejsza)\s+wiadomość|(?:это|данное)\s+(?:сообщение|письмо)"
    r"|(?:please\s+)?consider\s+the\s+environment\s+before|(?:please\s+)?think\s+before\s+you\s+print"
    r"|bitte\s+denken\s+sie\s+an\s+die\s+umwelt|bitte\s+prüfen\s+sie.{0,40}ausdruck"
    r"|pensez\s+à\s+l'environnement|avant\s+d'imprimer|本(?:邮件|メール)|この(?:メール|電子メール))",
    re.IGNORECASE,
)
DISCLAIMER_WORDS = re.compile(
    r"confidential|privileged|intended|recipient|unauthori[sz]ed|dissemination|disclos|delete"
    r"|in\s+error|liab(?:le|ility)|vertraulich|empfänger|unbefugt|irrtümlich|vernichten|löschen"
    r"|confidentiel|destinataire|destiné|erreur|divulgation|détrui|supprimer"
    r"|confidencial|destinatari|autorizad|error|elimin|riservat|destinatari|errore|divulgazione"
    r"|cancell|confidenciais|destinatário|erro\b|vertrouwelijk|bestemd|geadresseerde|onbevoegd"
    r"|verwijder|poufn|adresat|nieuprawnion|usuń|usunięci|конфиденциальн|получател|удал"
    r"|机密|保密|收件人|删除|機密|受信者|削除|virus|print|ausdruck|imprim|environment|umwelt",
    re.IGNORECASE,
)
LIST_FOOTER = re.compile(
    r"mailing\s*list|unsubscribe|listinfo|mailman|abmelden|désinscri|darse\s+de\s+baja|cancella"
    r"\s+iscrizione|google\s+groups|you\s+received\s+this\s+message\s+because",
    re.IGNORECASE,
)

REPLY_SUBJECT = re.compile(
    r"(?:re|aw|antw|antwort|sv|vs|res|r|rif|odp|ynt|vá|ref|réf|atb|bls|rép|отв|ответ|відп|απ"
    r"|回复|回覆|答复|返信|답장|回信|רע|رد|ad)\s*(?:\[\d{1,3}\]|\(\d{1,3}\)|\^\d{1,3})?\s*[:：]",
    re.IGNORECASE,
)
FORWARD_SUBJECT = re.compile(
    r"(?:fwd?|wg|weiterl|tr|rv|enc|i|doorst|fs|vb|vl|vs\.|pd|i̇lt|ilt|tov|továbbítás|пересл|fyi"
    r"|转发|轉寄|転送|전달|הועבר|إعادة توجيه)\s*(?:\[\d{1,3}\])?\s*[:：]",
    re.IGNORECASE,
)
SUBJECT_TAG = re.compile(r"\s*\[[^\[\]]{0,100}\]\s*")
"""What lists and ticket systems put in front of a subject."""
