"""A plain page of all calls, made from the OpenAPI document: no script, nothing from elsewhere."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals.api import problems
from approvals.api.app import api

METHODS = ("get", "post", "put")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Answers the page, to anybody: the contract holds no data."""
    schema = api.get_openapi_schema()
    schemas = schema["components"]["schemas"]
    calls = [
        _call(method, path, found[method], schemas)
        for path, found in schema["paths"].items()
        for method in METHODS
        if method in found
    ]
    codes = sorted(problems.STATUS.items(), key=lambda item: (item[1], item[0]))
    return render(request, "api/docs.html", {"info": schema["info"], "calls": calls, "codes": codes})


def _call(method: str, path: str, call: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": method.upper(),
        "path": path,
        "summary": call["summary"],
        "headers": _named(call, "header"),
        "query": _named(call, "query"),
        "body": _fields(call.get("requestBody"), schemas),
        "statuses": sorted(str(status) for status in call["responses"]),
    }


def _named(call: dict[str, Any], place: str) -> list[str]:
    return [item["name"] for item in call.get("parameters", []) if item["in"] == place]


def _fields(body: dict[str, Any] | None, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """Gives the members of a body, and which of them it needs."""
    if body is None:
        return []
    schema = body["content"]["application/json"]["schema"]
    refs = [item["$ref"] for item in (schema, *schema.get("anyOf", ())) if "$ref" in item]
    found = schemas[refs[0].rsplit("/", 1)[-1]] if refs else schema
    required = found.get("required", [])
    return [{"name": name, "required": name in required} for name in found.get("properties", {})]
