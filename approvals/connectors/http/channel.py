"""What a channel of this connector may say, and the faults it may have."""

import re
from typing import Any

from approvals.connectors import checks, placeholders
from approvals.connectors.base import ConfigError, Settings
from approvals.connectors.outbound import Outbound
from approvals.domain import pointer as pointers

_TEXT = {"type": "string", "minLength": 1}
_POINTER = {"type": "string"}
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # a token of RFC 9110
_PREFIX = re.compile(r"[ -~]*")
_OURS = frozenset(  # set by this connector or by the client underneath
    {
        *("accept", "content-type", "idempotency-key", "reviewroom-digest", "user-agent"),
        *("webhook-id", "webhook-signature", "webhook-timestamp"),
        *("accept-encoding", "connection", "content-length", "expect", "host", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    }
)


def _part(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


CONFIG_SCHEMA = _part(
    (),
    auth=_part(
        ("header",),
        header=_TEXT,  # the one that carries the secret; without `auth` the secret signs and is not sent
        prefix={"type": "string"},  # "Bearer "
        base64={"type": "boolean"},  # the secret is sent as base64: "Basic " with user:password
    ),
)
OPERATION_SCHEMA = _part(
    ("send",),
    schema={"type": ["object", "boolean"]},
    send=_part(
        ("method", "url"),
        method={"enum": ["POST", "PUT", "PATCH"]},
        url=_TEXT,
        id_pointer=_POINTER,
    ),
    lookup=_part(
        ("url", "id_pointer"),
        url=_TEXT,
        id_pointer=_POINTER,
        match_pointer=_POINTER,
        absent_on_404={"type": "boolean"},
    ),
    verify=_part(("url", "body_pointer"), url=_TEXT, body_pointer=_POINTER),
    retract=_part(("method", "url"), method={"enum": ["DELETE", "POST", "PUT", "PATCH"]}, url=_TEXT),
)
_ALLOWED = {
    "send": placeholders.NAMES,
    "lookup": placeholders.NAMES - {"remote_id"},  # it is what the look-up is to find
    "verify": placeholders.NAMES,
    "retract": placeholders.NAMES,
}


def check(settings: Settings, outbound: Outbound) -> None:
    """Raise ConfigError at the first fault."""
    checks.check_schema(settings.config, CONFIG_SCHEMA, "config")
    _check_auth(settings)
    if not settings.operations:
        raise ConfigError("/operations", "Declare at least one operation.")
    for name, operation in settings.operations.items():
        checks.check_schema(operation, OPERATION_SCHEMA, "operations", name)
        checks.check_payload_schema(operation, "operations", name)
        _check_operation(operation, outbound, "operations", name)
        _check_disclosure(settings, operation, outbound, "operations", name)


def urls(settings: Settings) -> list[tuple[str, str]]:
    """(pointer, URL template) of every call."""
    return [
        (pointers.build(["operations", name, part, "url"]), template["url"])
        for name, operation in settings.operations.items()
        for part, template in operation.items()
        if part != "schema"
    ]


def _check_auth(settings: Settings) -> None:
    auth = settings.config.get("auth")
    checks.check_secret(settings.secret, required=auth is not None)
    if auth is None:
        return
    if not _HEADER.fullmatch(auth["header"]) or auth["header"].lower() in _OURS:
        raise ConfigError("/config/auth/header", "Name a header that may carry a secret, like Authorization.")
    if not _PREFIX.fullmatch(auth.get("prefix", "")):
        raise ConfigError("/config/auth/prefix", "A prefix holds visible ASCII characters and blanks.")


def _check_operation(operation: dict[str, Any], outbound: Outbound, *path: str) -> None:
    for part, template in operation.items():
        if part == "schema":
            continue
        checks.check_template(outbound, template["url"], _ALLOWED[part], *path, part, "url")
        for name in template.keys() & {"id_pointer", "match_pointer", "body_pointer"}:
            checks.check_pointer(template[name], *path, part, name)
        if fault := _template_fault(part, template):
            raise ConfigError(pointers.build([*path, part, "url"]), fault)
    if "id_pointer" not in operation["send"] and not _needs_no_id(operation):
        raise ConfigError(
            pointers.build([*path, "send"]),
            "Say by id_pointer where the answer holds the object's id. It may be left out only where the URL names "
            "the object by {remote_id} and verify reads it back.",
        )


def _check_disclosure(settings: Settings, operation: dict[str, Any], outbound: Outbound, *path: str) -> None:
    """A secret that is sent as it is needs TLS; where private targets are allowed, that is the network's business."""
    if "auth" not in settings.config or outbound.allow_private:
        return
    for part, template in operation.items():
        if part != "schema" and not template["url"].startswith("https://"):
            raise ConfigError(pointers.build([*path, part, "url"]), "A secret in a header is sent by https:// only.")


def _needs_no_id(operation: dict[str, Any]) -> bool:
    return "remote_id" in placeholders.names(operation["send"]["url"]) and "verify" in operation


def _template_fault(part: str, template: dict[str, Any]) -> str | None:
    used = placeholders.names(template["url"])
    if part == "lookup" and "delivery_id" not in used:
        return "A look-up has to search for {delivery_id}."
    if template.get("absent_on_404") and not placeholders.in_path(template["url"], "delivery_id"):
        return "absent_on_404 needs {delivery_id} in the path: otherwise a 404 says nothing about this delivery."
    if part in ("verify", "retract") and not used & {"remote_id", "resource"}:
        return "This has to name one object, by {remote_id} or {resource}."
    return None
