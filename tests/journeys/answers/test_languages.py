"""Questions in languages with and without spaces, over small sites in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients.ahp import visiting

SITES = {
    "ja": {
        "haisou": "# 配送について\n\n配送料は全国一律500円です。ご注文から3日以内に発送します。\n",
        "henpin": "# 返品\n\n到着後14日以内なら返品できます。返送料はお客様負担です。\n",
        "shiharai": "# お支払い方法\n\nクレジットカードと銀行振込が使えます。\n",
        "tenpo": "# 店舗案内\n\n営業時間は10時から19時までです。水曜日は定休日です。\n",
    },
    "zh": {
        "peisong": "# 配送\n\n全国统一运费为12元。订单在两天内发货。\n",
        "tuihuo": "# 退货与换货\n\n收到商品后七天内可以退货。退货的费用由买家承担。\n",
        "zhifu": "# 支付方式\n\n我们接受信用卡和银行转账。\n",
        "mendian": "# 门店\n\n营业时间为上午九点到晚上八点。周一休息。\n",
    },
    "ko": {
        "baesong": "# 배송 안내\n\n배송비는 전국 3,000원입니다. 주문 후 이틀 안에 발송합니다.\n",
        "banpum": "# 반품과 교환\n\n상품을 받은 날부터 7일 안에 반품할 수 있습니다.\n",
        "gyeolje": "# 결제 방법\n\n신용카드와 계좌이체로 결제할 수 있습니다.\n",
        "maejang": "# 매장 안내\n\n영업시간은 오전 10시부터 오후 8시까지입니다.\n",
    },
    "th": {
        "jadsong": "# การจัดส่ง\n\nค่าจัดส่ง 50 บาททั่วประเทศ จัดส่งภายในสองวัน\n",
        "kuen": "# การคืนสินค้า\n\nคืนสินค้าได้ภายใน 7 วันหลังจากได้รับสินค้า\n",
        "jai": "# วิธีชำระเงิน\n\nรับบัตรเครดิตและโอนเงินผ่านธนาคาร\n",
        "raan": "# ร้าน\n\nเปิดทุกวันเวลา 10.00 ถึง 20.00 น.\n",
    },
    "de": {
        "versand": "# Lieferung\n\nDie Versandkosten betragen 5 Euro. Wir liefern in drei Tagen.\n",
        "retouren": "# Retouren\n\nDie Rückgabe ist 14 Tage möglich. Wir tauschen die Größe.\n",
        "zahlung": "# Zahlungsarten\n\nWir nehmen Kreditkarten und Überweisungen.\n",
        "laden": "# Laden\n\nUnsere Öffnungszeiten: täglich von 10 bis 19 Uhr.\n",
    },
}
ASKED = [
    ("ja", "配送料", "500円"),
    ("ja", "配送料を教えてください", "500円"),
    ("ja", "返品できますか", "14日以内"),
    ("ja", "返品はいつまでですか？", "14日以内"),
    ("ja", "ｸﾚｼﾞｯﾄｶｰﾄﾞは使えますか", "クレジットカード"),
    ("ja", "営業時間は何時まで？", "19時"),
    ("ja", "クレジトカードは使えますか", "クレジットカード"),
    ("ja", "決済の方法は？", "銀行振込"),
    ("zh", "运费是多少？", "12元"),
    ("zh", "请问可以退货吗", "七天内"),
    ("zh", "怎么用信用卡支付？", "信用卡"),
    ("zh", "营业时间", "晚上八点"),
    ("ko", "배송비는 얼마예요?", "3,000원"),
    ("ko", "반품할 수 있나요?", "7일"),
    ("ko", "신용카드 결제가 되나요?", "신용카드"),
    ("th", "ค่าจัดส่งเท่าไหร่ครับ", "50 บาท"),
    ("th", "คืนสินค้าได้ไหมคะ", "7 วัน"),
    ("de", "Was kostet der Versand?", "5 Euro"),
    ("de", "Rückgaberecht?", "14 Tage"),
    ("de", "Welche Groesse tauscht ihr?", "Größe"),
    ("de", "Welche Sprechzeiten haben Sie?", "19 Uhr"),
    ("de", "Wie lange geht der Umtausch?", "14 Tage"),
    ("de", "Welche Kreditkarte nehmen Sie?", "Kreditkarten"),
]


def _write(folder: Path, pages: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("tag", SITES)
async def test_a_site_answers_questions_in_its_language(tmp_path: Path, tag: str) -> None:
    _write(tmp_path / "site", SITES[tag])
    settings = ("site.name=Shop", f"site.language={tag}")
    async with visiting(tmp_path / "data", *settings, folder=tmp_path / "site") as visitor:
        for own, question, fact in ASKED:
            if own == tag:
                said = await visitor.ask(question)
                assert fact in said.answer, question


async def test_a_site_that_names_no_language_is_read_in_that_of_its_pages(tmp_path: Path) -> None:
    _write(tmp_path / "ja", SITES["ja"])
    async with visiting(tmp_path / "data", "site.name=Shop", folder=tmp_path / "ja") as visitor:
        said = await visitor.ask("駐車場はありますか？")
        assert "についての記載が見つかりませんでした" in said.answer
        assert said.body["meta"]["locale"] == "ja"


@pytest.mark.parametrize(
    ("tag", "question", "refusal"),
    [
        (
            "ja",
            "駐車場はありますか？",
            "「駐車場」についての記載が見つかりませんでした",
        ),
        (
            "ja",
            "ヴァイオリンはありますか？",
            "「ヴァイオリン」についての記載が見つかりませんでした",
        ),
        ("zh", "有停车场吗？", "没有找到"),
        ("ko", "주차장이 있나요?", "찾지 못했습니다"),
        ("th", "มีที่จอดรถไหม", "ไม่พบ"),
    ],
)
async def test_what_is_not_there_is_refused_in_the_language(
    tmp_path: Path, tag: str, question: str, refusal: str
) -> None:
    _write(tmp_path / "site", SITES[tag])
    settings = ("site.name=Shop", f"site.language={tag}")
    async with visiting(tmp_path / "data", *settings, folder=tmp_path / "site") as visitor:
        said = await visitor.ask(question)
        assert refusal in said.answer


async def test_an_answer_in_another_language_is_introduced_in_the_visitors(tmp_path: Path) -> None:
    pages = {"stick": "# Stick\n\nDer Dingo-Stick hat 64 GB Speicher.\n"}
    _write(tmp_path / "site", SITES["de"] | pages)
    settings = ("site.name=Shop", "site.language=de")
    async with visiting(tmp_path / "data", *settings, folder=tmp_path / "site") as visitor:
        said = await visitor.ask("What about the Dingo stick?")
        start = "The pages of this site are in German; they say:\n\n"
        assert said.answer.startswith(start)
        assert "64 GB" in said.answer
        said = await visitor.ask("Dingo-Stick", locale="ja-JP")
        assert said.answer.startswith("このサイトのページはドイツ語で書かれています。")
        said = await visitor.ask("Was ist der Dingo-Stick?", locale="de-AT")
        assert said.answer.startswith("Der Dingo-Stick")
