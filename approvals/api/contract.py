"""The OpenAPI document: what the application knows of itself, with examples and words for every parameter."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from approvals.api import examples
from approvals.api.problems import CONTENT_TYPE

PROBLEM = {"$ref": "#/components/schemas/Problem"}
PARAMETERS = {
    "after": "Where the page before ended.",
    "approval_id": "The approval's id.",
    "channel": "Only drafts of this channel, by its slug.",
    "cursor": "The next_cursor of the page before.",
    "delivery_id": "The id of a draft's delivery or retraction; it is the idempotency key at the remote as well.",
    "draft_id": "The draft's number: 1042 for RR-1042.",
    "draft": "Only this draft, by its number.",
    "dry_run": "1 checks everything and keeps nothing.",
    "format": "jsonl or csv.",
    "limit": "How many items a page holds at most.",
    "number": "The revision's number, from 1.",
    "room": "A room, by its slug.",
    "since": "From this time on (RFC 3339, with its UTC offset).",
    "slug": "The slug of the room, or of the channel in it.",
    "state": "Only drafts in this state, as of now.",
    "until": "Before this time (RFC 3339, with its UTC offset).",
    "wait": "With If-None-Match: wait so many seconds for a change, then answer 304.",
}


class Contract(NinjaAPI):
    """An API whose document leaves nothing to guess."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        for name, example in examples.OF.items():
            schema["components"]["schemas"][name]["examples"] = [example]
        for calls in schema["paths"].values():
            for call in calls.values():
                _describe(call)
        return schema


def _describe(call: dict[str, Any]) -> None:
    for parameter in call.get("parameters", []):
        parameter.setdefault("description", PARAMETERS.get(parameter["name"], ""))
    for answer in call["responses"].values():
        content = answer.get("content", {})
        if content.get("application/json", {}).get("schema") == PROBLEM:
            content[CONTENT_TYPE] = content.pop("application/json")
