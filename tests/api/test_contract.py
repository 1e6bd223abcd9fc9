"""The OpenAPI document: complete, and its examples are what the API takes and answers."""

import pytest
from pydantic import BaseModel

from approvals.api import bodies, documents, examples
from approvals.api.app import api as ninja
from approvals.api.documents import DraftDocument, EventDocument, Page, RoomDocument
from approvals.domain.binding import digest_of

PAGES = {
    "Page_RoomDocument_": Page[RoomDocument],
    "Page_DraftDocument_": Page[DraftDocument],
    "Page_EventDocument_": Page[EventDocument],
}
CALLS = [
    pytest.param(call, id=f"{method.upper()} {path}")
    for path, found in ninja.get_openapi_schema()["paths"].items()
    for method, call in found.items()
]


def named(content):
    """Gives the components that a body or an answer consists of."""
    schema = content.get("application/json", {}).get("schema", {})
    return [part["$ref"].rsplit("/", 1)[1] for part in (schema, *schema.get("anyOf", ())) if "$ref" in part]


@pytest.mark.parametrize("name", examples.OF)
def test_an_example_is_what_its_model_says(name):
    model: type[BaseModel] = PAGES.get(name) or getattr(bodies, name, None) or getattr(documents, name)
    model.model_validate(examples.OF[name], strict=False)
    assert set(examples.OF[name]) <= set(model.model_fields)


@pytest.mark.parametrize("call", CALLS)
def test_every_body_and_answer_has_an_example(call):
    told = named(call.get("requestBody", {}).get("content", {}))
    told += [name for answer in call["responses"].values() for name in named(answer.get("content", {}))]
    assert [name for name in told if name not in examples.OF] == []


@pytest.mark.parametrize("call", CALLS)
def test_every_call_says_what_it_does_and_what_its_parameters_are(call):
    assert call["summary"]
    assert [item["name"] for item in call.get("parameters", []) if not item["description"]] == []


@pytest.mark.parametrize("call", CALLS)
def test_every_refusal_is_a_problem_document(call):
    refusals = {status: answer for status, answer in call["responses"].items() if int(status) >= 400}
    assert {401, 403, 422, 503} <= set(map(int, refusals))
    assert [
        status for status, answer in refusals.items() if set(answer["content"]) != {"application/problem+json"}
    ] == []


def test_the_claim_is_told_to_come_signed_too():
    answers = ninja.get_openapi_schema()["paths"]["/v1/approvals/{approval_id}/claim"]["get"]["responses"]
    assert set(next(iter(answers.values()))["content"]) == {"application/json", "application/jwt"}


def test_every_link_of_a_draft_is_a_call_of_the_contract():
    paths = {path.format(draft_id=1042, number=1, approval_id=examples.APPROVAL) for path in told_paths()}
    links = {name: link for name, link in examples.DRAFT["links"].items() if name != "page"}
    assert {name: link for name, link in links.items() if link not in paths} == {}


def told_paths():
    return [
        path for path in ninja.get_openapi_schema()["paths"] if "{delivery_id}" not in path and "{slug}" not in path
    ]


def test_the_examples_digest_has_the_form_of_a_digest():
    assert len(examples.DIGEST) == len(digest_of(b""))
