"""Request headers as the OpenAPI document tells them; they are read in `reading.py`."""

from typing import Any


def _told(name: str, description: str, *, required: bool = False) -> dict[str, Any]:
    parameter = {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string"},
    }
    return {"parameters": [parameter]}


KEYED = _told("Idempotency-Key", "Yours to choose; the same request sent again has one effect. Kept for 24 hours.")
IF_MATCH = _told("If-Match", "The ETag of the draft that was edited; its version is compared.", required=True)
IF_NONE_MATCH = _told("If-None-Match", "The ETag you have: 304 while it is current.")
