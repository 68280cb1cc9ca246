"""Which words ask for a person, and which only speak of people: in every language of the desk."""

from __future__ import annotations

import pytest

from aitp_desk.agent.speech import all_speech
from aitp_desk.agent.speech.person_request import agrees_to_person, asks_for_person

ASKS = {
    "en": """
I want to talk to a person
human please
Human
Can I speak to a human?
I'd like to talk to someone.
I would like to speak with a real person, please
talk to a human
Could I please talk to somebody about my order?
connect me to an agent
Please connect me with customer service.
Can you put me through to support?
Give me a human
get me a manager
Is there a person I can talk to?
is there someone i can speak to
Let me talk to a real human
No, I want a person.
This is useless. I want to talk to a human!
This doesn't help, can I talk to a person
real person
a live agent
agent please
Please ask a person
Can you ask someone?
have a person answer this
Have someone call me back
I need to speak with a member of your staff
escalate this to a human
I need a human
Hi! Can I please speak to somebody from your team?
transfer me to an operator
could you have a human look at this?
can i chat with a real agent
I'd rather talk to a human
Can we talk to someone in sales?
I want to speak to your manager now
""",
    "de": """
Ich möchte mit einem Menschen sprechen
Kann ich mit jemandem reden?
Mensch bitte
einen Menschen bitte
Ich will einen Menschen
Verbinden Sie mich bitte mit einem Mitarbeiter
Könnten Sie mich mit dem Kundendienst verbinden?
Kann ich bitte mit einem echten Menschen sprechen?
Ich würde gerne mit jemandem von Ihnen sprechen
Gibt es jemanden, mit dem ich sprechen kann?
Mit einem Menschen sprechen
Frag bitte einen Menschen
Ich will mit einem Mitarbeiter sprechen, nicht mit einem Bot!
Mitarbeiter bitte
Echter Mensch
Ich möchte jemanden sprechen
Kann ich mit einer Person über meine Bestellung sprechen?
""",
    "es": """
Quiero hablar con una persona
¿Puedo hablar con alguien?
Una persona, por favor
humano
Me gustaría hablar con una persona real, por favor
Póngame con un agente
¿Podría pasarme con el servicio al cliente?
¿Hay alguien con quien pueda hablar?
Hablar con un humano
Pregunta a una persona
quiero una persona real
necesito hablar con alguien sobre mi pedido
""",
    "fr": """
Je voudrais parler à une personne
Puis-je parler à quelqu'un ?
Un humain s'il vous plaît
Est-ce que je peux parler à un conseiller ?
J'aimerais parler avec un être humain
Passez-moi un conseiller
Pouvez-vous me mettre en relation avec le service client ?
Y a-t-il quelqu'un à qui je peux parler ?
Parler à un humain
une vraie personne
je veux parler à quelqu'un de votre équipe
demandez à une personne
""",
    "it": """
Vorrei parlare con una persona
Posso parlare con qualcuno?
un umano per favore
Mi passi un operatore
C'è qualcuno con cui posso parlare?
operatore per favore
parlare con un operatore
persona reale
Può mettermi in contatto con il servizio clienti?
Chiedi a una persona
""",
    "nl": """
Ik wil met een mens praten
Kan ik iemand spreken?
Kan ik met een medewerker spreken?
Ik wil graag met iemand spreken
een mens alstublieft
Kunt u mij doorverbinden met een medewerker?
Kunt u mij met een medewerker doorverbinden?
Verbind me door met de klantenservice
echte persoon
Is er iemand met wie ik kan praten?
vraag het aan een mens
Ik zou graag een medewerker willen spreken
""",
    "pl": """
Chcę porozmawiać z człowiekiem
Czy mogę porozmawiać z kimś?
Chciałabym rozmawiać z pracownikiem
Proszę mnie połączyć z konsultantem
z człowiekiem
żywy człowiek
poproszę o rozmowę z konsultantem
Czy jest ktoś, z kim mogę porozmawiać?
Proszę zapytać człowieka
konsultanta proszę
Czy mogą Państwo przekazać to do działu obsługi klienta?
""",
    "pt": """
Quero falar com uma pessoa
Posso falar com alguém?
Um humano, por favor
atendente, por favor
Gostaria de falar com um atendente
Pode me transferir para um atendente?
Há alguém com quem eu possa falar?
pessoa real
falar com um humano
preciso falar com alguém sobre o meu pedido
Pergunte a uma pessoa
""",
    "ja": """
担当者と話したいです
オペレーターにつないでください
人間と話せますか？
スタッフの方に相談したいのですが
誰かと話したい
担当者をお願いします
いいえ、人間と話したい。
""",
    "ko": """
상담원 연결해 주세요
사람과 이야기하고 싶어요
상담원 부탁드립니다
직원과 통화하고 싶습니다
담당자에게 물어봐 주세요
상담원
""",
    "th": """
ขอคุยกับพนักงานหน่อยครับ
ติดต่อเจ้าหน้าที่ค่ะ
ช่วยโอนสายให้เจ้าหน้าที่หน่อยครับ
ขอเจ้าหน้าที่ค่ะ
""",
    "zh": """
转人工
我想和真人说话
人工客服
请转接客服
帮我联系客服人员
我要找客服
請轉人工客服
""",
}
ASKS_NOT = """
a person's size
customer service hours
do you have human hair brushes
What is human resources' address?
Can a person carry it alone?
How many people can sit at the table?
I want a person-sized pillow
Can I talk to you about returns?
who is the person in the picture
Do I need an agent to sign for it?
I need a support for a shelf
agent
operator
one person
A person
How do I get in touch with the press?
I don't want to talk to a person
Do I have to talk to a person?
Do not connect me to an agent
Which is better, a real person, or a bot?
Who wrote this? A human?
Can I talk to a person at the store in Boise?
Can I speak English with the guide?
How can I talk to a person?
What does customer service cost?
give me someone's address
Give me the phone number of support
get the person a gift
contact
contact us
Can I get a human skeleton model?
human rights
real person names
What are the support hours?
I need an agent for import taxes
Do your people speak German?
is there a person who can fix zips
let me talk
yes please
I want to talk about a person
Can people with allergies use it?
ask a question
Wie viele Menschen passen in das Zelt?
Ich möchte mit der Bahn reisen
Kann ich mit Hund kommen?
Eine Person
Person
Öffnungszeiten Kundendienst
Muss ich mit jemandem sprechen?
Ich will nicht mit einem Menschen sprechen
Gibt es Rabatt für eine Person?
Menschenrechte
¿Cuántas personas caben?
para una persona
horario de atención al cliente
No quiero hablar con una persona
una persona
Puedo pagar con tarjeta?
Combien de personnes ?
horaires du service client
une personne
Je ne veux pas parler à une personne
personne ne répond
quante persone
orari del servizio clienti
Non voglio parlare con una persona
una tenda per una persona
hoeveel mensen
openingstijden klantenservice
Ik wil niet met een mens praten
een persoon
quantas pessoas
horário de atendimento
Não quero falar com uma pessoa
uma pessoa
How many humans work here?
Is this bag made by a real person?
Human resources
Tell me about your people
Contact a dealer
Where can I reach customer support by phone?
Is your support free?
Can I get support for my boots?
Can I contact you on Sundays?
Contact customer service
contactar con atención al cliente
Kontakt mit dem Kundendienst aufnehmen
Ask the expert column
Do you give a discount to staff?
I need someone to carry my kayak
Send it to a person in Canada
persona
Persona non grata
Menschen
Humana
personne
hombre
człowiek
obsługa klienta
numer telefonu konsultanta
Kto to napisał, człowiek?
praca dla konsultanta
人工智能
客服电话是多少？
人工费
スタッフ募集
担当者名
人間工学
상담원 채용
고객센터 전화번호
사람
เบอร์โทรเจ้าหน้าที่
"""
AGREES = {
    "en": "yes|Yes please!|yeah|sure|ok|yes, please do|Go ahead.",
    "de": "Ja, bitte|gerne|Ja gern",
    "es": "Sí, por favor|claro que sí|vale",
    "fr": "oui|Oui, s'il vous plaît|volontiers",
    "it": "sì|va bene|Certo!",
    "nl": "ja graag|doe maar",
    "pl": "tak|Tak, poproszę|chętnie|Oczywiście!",
    "pt": "sim|pode ser",
    "ja": "はい|はい、お願いします。|お願いします",
    "ko": "네|네, 부탁드립니다|좋아요",
    "th": "ใช่ครับ|ตกลง|ได้เลยค่ะ",
    "zh": "是|好的|好的，谢谢|可以",
}
AGREES_NOT = "no|no thanks|yes or no|yes but how much|ok what about shoes|ja aber|sí o no||2"


def test_every_language_of_the_desk_is_tried() -> None:
    assert {speech.tag for speech in all_speech()} == ASKS.keys() == AGREES.keys()
    held = {speech.person.held.format(operator="anna{0}") for speech in all_speech()}
    assert len(held) == len(ASKS)
    assert all("anna{0}" in said for said in held)


@pytest.mark.parametrize("tag", ASKS)
def test_who_asks_for_a_person_is_understood_in_their_language(tag: str) -> None:
    for words in ASKS[tag].strip().splitlines():
        for said in (words, words.upper(), f"  {words} \n"):
            speech = asks_for_person(said)
            assert speech is not None, said
            assert speech.tag == tag, said


def test_who_speaks_of_people_asks_for_none() -> None:
    asked = [words for words in ASKS_NOT.strip().splitlines() if asks_for_person(words)]
    assert asked == []


def test_a_word_alone_asks_in_a_conversation_and_not_in_a_search() -> None:
    assert asks_for_person("human please")
    assert asks_for_person("human please", in_full=True) is None
    assert asks_for_person("I want to talk to a human", in_full=True)


def test_one_sentence_of_several_is_enough_and_a_word_among_them_is_not() -> None:
    assert asks_for_person("This is no help at all. I want to talk to a human! It is my order.")
    assert asks_for_person("That's wrong, can I speak to someone")
    assert asks_for_person("Who wrote this? A human?") is None


@pytest.mark.parametrize("tag", AGREES)
def test_a_yes_is_understood_in_every_language(tag: str) -> None:
    for words in AGREES[tag].split("|"):
        assert agrees_to_person(words) is not None, words


def test_a_yes_with_more_to_it_agrees_to_nothing() -> None:
    assert [words for words in AGREES_NOT.split("|") if agrees_to_person(words)] == []


def test_of_very_long_words_the_end_is_read() -> None:
    long = "please just now " * 10_000
    assert asks_for_person(f"I want to talk to a human. {long}.") is None
    assert asks_for_person(f"{long}. I want to talk to a human.")
    assert agrees_to_person(long) is None
