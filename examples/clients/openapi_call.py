"""Calls an operation of an OpenAPI document by its operationId.

    python3 openapi_call.py https://shop.example/openapi.json product_search '{"words": "stove"}'

Set the environment variable DESK_KEY to an API key if the operation needs one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def make_call(document: dict[str, Any], operation_id: str, arguments: str) -> Request:
    """Build the request that calls an operation.

    Raises:
        SystemExit: the document has no such operation.
    """
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if operation.get("operationId") == operation_id:
                address = document["servers"][0]["url"] + path
                request = Request(address, arguments.encode(), method=method.upper())
                request.add_header("Content-Type", "application/json")
                if key := os.environ.get("DESK_KEY"):
                    request.add_header("Authorization", f"Bearer {key}")
                return request
    raise SystemExit(f"The document has no operation {operation_id}.")


def main() -> None:
    """Read the document, make the call, and print the response."""
    url, operation_id, arguments = sys.argv[1:]
    with urlopen(url) as response:
        document = json.load(response)
    try:
        with urlopen(make_call(document, operation_id, arguments)) as response:
            print(json.dumps(json.load(response), indent=2))
    except HTTPError as refusal:
        raise SystemExit(json.load(refusal)["detail"]) from None


if __name__ == "__main__":
    main()
