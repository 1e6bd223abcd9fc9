"""Faults of a channel's configuration, found before it is saved."""

from typing import Any

import jsonschema

from approvals.connectors import placeholders, secrets
from approvals.connectors.base import ConfigError
from approvals.connectors.outbound import Outbound
from approvals.domain import pointer as pointers


def check_schema(value: Any, schema: dict[str, Any], *path: str) -> None:
    """Raise ConfigError for the first place where `value`, found at `path`, does not fit the schema."""
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise ConfigError(pointers.build([*path, *error.absolute_path]), f"{error.message}.")


def check_payload_schema(operation: dict[str, Any], *path: str) -> None:
    """Raise ConfigError unless the operation's own JSON Schema is one, and refers to nothing outside itself."""
    schema = operation.get("schema", True)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as exc:
        raise ConfigError(pointers.build([*path, "schema", *exc.absolute_path]), f"{exc.message}.") from exc
    if any(not str(reference).startswith("#") for reference in _references(schema)):
        raise ConfigError(pointers.build([*path, "schema"]), "A $ref may only point into the schema itself (#/...).")


def check_secret(name: str, *, required: bool) -> None:
    """Raise ConfigError for a missing or impossible name. Whether the secret is set shows when it is used."""
    if not name and required:
        raise ConfigError("/secret", "Name the secret that lets us in.")
    if name and (fault := secrets.name_problem(name)):
        raise ConfigError("/secret", fault)


def check_template(outbound: Outbound, url: str, allowed: frozenset[str], *path: str) -> None:
    """Raise ConfigError for a URL template that cannot be filled or may not be called."""
    pointer = pointers.build(path)
    if fault := placeholders.problem(url, allowed):
        raise ConfigError(pointer, fault)
    outbound.check_url(pointer, url)


def check_pointer(text: str, *path: str) -> None:
    """Raise ConfigError unless the text is a JSON pointer (RFC 6901)."""
    try:
        pointers.parse(text)
    except ValueError as exc:
        raise ConfigError(pointers.build(path), str(exc)) from exc


def _references(schema: Any) -> list[object]:
    if isinstance(schema, list):
        return [found for item in schema for found in _references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema[key] for key in ("$ref", "$dynamicRef") if key in schema]
    return own + [found for item in schema.values() for found in _references(item)]
