"""Carries quotes, payments and confirmations between two desks: a seller and a buyer.

    SELLER_KEY=… BUYER_KEY=… python3 carry_payments.py SELLER THREAD BUYER THREAD [SECONDS]

Each desk is named by its address and the id of a thread there. It ends with the last confirmation,
or after SECONDS (60). If it is started again, it carries everything again: a desk repeats its
earlier answers and pays nothing twice. See docs/build/paying.md of aitp-desk. Only Python's
standard library is needed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PUBLISHED = "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json"
OWN = "/capabilities/payments/v1/schema.json"
FROM_SELLER = {"quote", "wrapped_quote", "payment_confirmation", "top_up_request"}
FROM_BUYER = {"payment", "top_up_response"}


class Desk:
    """A thread of a desk; messages that were already read are skipped."""

    def __init__(self, url: str, thread: str, key: str) -> None:
        self.url = url.rstrip("/")
        self._path = f"/v1/threads/{thread}"
        self._key = key
        self._after = ""

    def join(self, other: Desk) -> None:
        """Join the thread as the other desk, and declare that it knows payments."""
        known = [{"schema": PUBLISHED}, {"schema": self.url + OWN}]
        self._send("POST", "/actors", {"id": other.url, "capabilities": known})

    def say(self, message: dict[str, Any]) -> None:
        """Send a message; convert the other desk's own schema to this one's."""
        if message["$schema"].endswith(OWN):
            message = {**message, "$schema": self.url + OWN}
        self._send("POST", "/messages", {"role": "user", "content": json.dumps(message)})

    def hear(self) -> Iterator[dict[str, Any]]:
        """Return all structured messages of the desk since the last call."""
        while True:
            page = self._send("GET", f"/messages?order=asc&limit=100{self._after}")
            for message in page["data"]:
                self._after = f"&after={message['id']}"
                if message["role"] == "assistant":
                    yield from (json.loads(one) for one in message["content"] if one[:1] == "{")
            if not page["has_more"]:
                return

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + self._path + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {self._key}")
        try:
            with urlopen(request, timeout=30) as response:
                return json.load(response)
        except HTTPError as refusal:
            raise SystemExit(f"{self.url} refuses: {refusal.read().decode()}") from None


def carry(seller: Desk, buyer: Desk, seconds: float) -> str:
    """Carry messages until no confirmation is missing; return the last confirmation."""
    quotes: dict[str, dict[str, Any]] = {}
    result = "nothing"
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for message in seller.hear():
            if quote := message.get("quote"):
                quotes[quote["quote_id"]] = message
            if told := message.get("payment_confirmation"):
                result = told["result"]
                if result == "success":
                    quotes.pop(told["quote_id"], None)
            if FROM_SELLER & message.keys():
                buyer.say(message)
        for message in buyer.hear():
            if FROM_BUYER & message.keys():
                seller.say(message)
            if "top_up_response" in message:  # the repeated quote can be paid now
                for quote in quotes.values():
                    buyer.say(quote)
        if result == "success" and not quotes:
            break
        time.sleep(0.2)
    return result


def main() -> None:
    """Carry between the desks of the command line, and print the result."""
    seller_url, seller_thread, buyer_url, buyer_thread, *seconds = sys.argv[1:]
    seller = Desk(seller_url, seller_thread, os.environ["SELLER_KEY"])
    buyer = Desk(buyer_url, buyer_thread, os.environ["BUYER_KEY"])
    seller.join(buyer)
    buyer.join(seller)
    result = carry(seller, buyer, float(*seconds or ["60"]))
    print(result)
    raise SystemExit(result != "success")


if __name__ == "__main__":
    main()
