"""What somebody writes into a proposal form: as JSON, or field by field where the payload is a flat object.

Browsers send line ends as CRLF: they become LF, and nothing else is touched, so a save without a change changes
nothing. A text that a form control would not give back as it was (a lone CR, characters that cannot be seen) is
written as JSON with escapes instead.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import rfc8785
from django.http import QueryDict

from approvals.domain import binding as bindings
from approvals.domain import visible
from approvals.domain.errors import InvalidPayload, Refusal
from approvals.web import numbers
from approvals.web.kept import clean

FIELDS, JSON = "fields", "json"
SHORT = 200
SCALARS = (str, bool, int, float, type(None))
_HARD = re.compile(r"[\r\x00]")


@dataclass(frozen=True, slots=True)
class Line:
    """One top-level field. `is_text`: the text is the value; else it is a JSON literal. `omit`: left out if empty."""

    name: str
    text: str
    is_text: bool = True
    label: str = ""
    hint: str = ""
    is_required: bool = False
    omit: bool = False
    choices: tuple[str, ...] = ()
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The whole form as typed, with what is wrong with it. `faults` goes by control, `fault` is about all of it."""

    mode: str
    lines: tuple[Line, ...] = ()
    payload_text: str = ""
    title: str = ""
    note: str = ""
    resource: str = ""
    not_before: str = ""
    corrects: str = ""
    version: int = 0
    submit: bool = True
    here: str = ""
    fields_fit: bool = False
    mode_note: str = ""
    fault: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(line.name for line in self.lines) if self.mode == FIELDS else ()

    def mode_url(self, mode: str) -> str:
        return f"{self.here}{'&' if '?' in self.here else '?'}{urlencode({'as': mode})}"

    def payload(self) -> Any:
        """Gives what was typed as a JSON value. Raises InvalidPayload with a pointer, and a line for bad JSON."""
        if self.mode == JSON:
            return bindings.parse_json(self.payload_text, "/payload")
        return {line.name: _value(line) for line in self.lines if line.text or not line.omit}

    def moment(self) -> datetime | None:
        """Gives the time before which nothing is sent; the form says that it is UTC. Raises InvalidPayload."""
        if not self.not_before.strip():
            return None
        try:
            return datetime.fromisoformat(self.not_before.strip()).replace(tzinfo=UTC)
        except ValueError as exc:
            raise InvalidPayload("Write a day and a time, like 2026-11-30T14:00.", pointer="/not_before") from exc

    def with_refusal(self, refusal: Refusal) -> "Written":
        """Puts a refusal where it belongs: at its control if there is one, else over the form."""
        message = str(refusal)
        if refusal.line is not None and f"column {refusal.column}" not in message:
            message = f"Line {refusal.line}, column {refusal.column}: {message}"
        name = self._control_at(refusal.pointer or "")
        if self.mode == JSON and refusal.pointer not in (None, "", "/payload"):
            message = f"{message} (at {refusal.pointer})"
        summary = "Look at the field that is marked." if name else message
        return replace(self, fault=summary, faults={name: message} if name else {})

    def _control_at(self, pointer: str) -> str:
        place = pointer.split("/")[1:]
        if place[:1] in (["title"], ["note"], ["resource"], ["not_before"]):
            return place[0]
        if self.mode == JSON and (not place or place[0] == "payload"):
            return "payload"
        key = place[1].replace("~1", "/").replace("~0", "~") if len(place) > 1 and place[0] == "payload" else ""
        return key if key in self.field_names else ""


def of_payload(payload: dict[str, Any], *, mode: str, schema: Mapping[str, Any] | None = None) -> Written:
    """Gives the form of an existing payload, in the wanted mode or the one that can hold it."""
    fits = fits_fields(payload)
    note = "" if fits else "This payload has nested fields, or characters that cannot be seen: they are written as \\u."
    wanted = mode if mode in (FIELDS, JSON) else FIELDS
    if wanted == FIELDS and fits:
        lines = tuple(_line(name, payload[name], schema) for name in _ordered(payload, schema))
        return Written(FIELDS, lines=lines, fields_fit=True)
    return Written(JSON, payload_text=as_text(payload), fields_fit=fits, mode_note=note)


def of_schema(schema: Mapping[str, Any] | None, *, mode: str) -> Written:
    """Gives the empty form of an operation: its declared fields if they are flat, else JSON."""
    properties = (schema or {}).get("properties", {})
    required = list((schema or {}).get("required", []))
    names = list(dict.fromkeys((*required, *properties)))
    flat = bool(names) and all(_kind(properties.get(name, {})) in ("string", "number", "boolean") for name in names)
    if flat and mode != JSON:
        lines = tuple(_blank(name, properties.get(name, {}), name in required) for name in names)
        return Written(FIELDS, lines=lines, fields_fit=True)
    text = json.dumps(dict.fromkeys(required, ""), indent=2, ensure_ascii=False)
    return Written(JSON, payload_text=text, fields_fit=flat)


def posted(data: QueryDict) -> Written:
    """Reads the form as it came. CRLF becomes LF; nothing is stripped."""
    mode = data.get("mode") if data.get("mode") in (FIELDS, JSON) else JSON
    lines = tuple(_posted_line(data, name) for name in data.getlist("field")) if mode == FIELDS else ()
    return Written(
        mode=mode or JSON,
        lines=lines,
        payload_text=clean(data.get("payload", "")),
        title=clean(data.get("title", "")),
        note=clean(data.get("note", "")),
        resource=data.get("resource", ""),
        not_before=data.get("not_before", ""),
        corrects=data.get("corrects", ""),
        version=numbers.whole(data.get("version", "")) or 0,
        submit=data.get("submit", "yes") != "no",
    )


def with_kinds(written: Written, payload: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Written:
    """Gives posted lines their kinds back: a field is text unless its stored value or its schema says otherwise."""
    known = {name: _line(name, value, schema) for name, value in payload.items()}
    properties = (schema or {}).get("properties", {})
    required = (schema or {}).get("required", [])
    lines = tuple(
        replace(
            known.get(line.name) or _blank(line.name, properties.get(line.name, {}), line.name in required),
            text=line.text,
        )
        for line in written.lines
    )
    return replace(written, lines=lines, fields_fit=written.mode == FIELDS or fits_fields(payload))


def fits_fields(payload: Mapping[str, Any]) -> bool:
    """True if form controls give every value back as it was: flat, and nothing in it that cannot be seen."""
    names_fit = all(_seen(name) and "\n" not in name for name in payload)
    return bool(payload) and names_fit and all(_fits(value) for value in payload.values())


def as_text(payload: Any) -> str:
    """Gives JSON for a textarea: readable, with everything that cannot be seen written as an escape."""
    text = json.dumps(payload, indent=2, ensure_ascii=False)
    return "".join(run.text if run.raw else "".join(_escaped(char) for char in run.text) for run in visible.runs(text))


def _fits(value: Any) -> bool:
    return isinstance(value, SCALARS) and (not isinstance(value, str) or _seen(value))


def _seen(text: str) -> bool:
    return not _HARD.search(text) and all(run.raw for run in visible.runs(text))


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 126 else f"\\u{ord(char):04x}"


def _ordered(payload: Mapping[str, Any], schema: Mapping[str, Any] | None) -> list[str]:
    """Gives the fields as the schema lists them, then the others as they stand."""
    declared = (schema or {}).get("properties", {})
    return [*(name for name in declared if name in payload), *(name for name in payload if name not in declared)]


def _line(name: str, value: Any, schema: Mapping[str, Any] | None) -> Line:
    about = (schema or {}).get("properties", {}).get(name, {})
    required = name in (schema or {}).get("required", [])
    is_text = isinstance(value, str)
    text = value if is_text else rfc8785.dumps(value).decode()
    choices = ("true", "false") if isinstance(value, bool) else _choices(about) if is_text else ()
    return Line(
        name,
        text,
        is_text,
        label=_label(name, about),
        hint=_hint(about),
        is_required=required or not is_text,
        choices=choices if text in choices else (),
        is_short=is_text and _is_short(about) and "\n" not in text,
    )


def _blank(name: str, about: Mapping[str, Any], required: bool) -> Line:
    kind = _kind(about)
    return Line(
        name,
        "",
        kind == "string",
        label=_label(name, about),
        hint=_hint(about),
        is_required=required,
        omit=not required,
        choices=("true", "false") if kind == "boolean" else _choices(about),
        is_short=_is_short(about),
    )


def _posted_line(data: QueryDict, name: str) -> Line:
    return Line(name, clean(data.get(f"value:{name}", "")), label=name)


def _value(line: Line) -> Any:
    if line.is_text:
        return line.text
    try:
        return bindings.parse_json(line.text)
    except InvalidPayload as exc:
        pointer = "/payload/" + line.name.replace("~", "~0").replace("/", "~1")
        raise InvalidPayload("Write true, false, null or a number here.", pointer=pointer) from exc


def _kind(about: Mapping[str, Any]) -> str:
    kind = about.get("type", "string")
    return "number" if kind == "integer" else str(kind)


def _label(name: str, about: Mapping[str, Any]) -> str:
    return str(about.get("title") or name)


def _hint(about: Mapping[str, Any]) -> str:
    return str(about.get("description", ""))


def _choices(about: Mapping[str, Any]) -> tuple[str, ...]:
    """Gives the texts a schema lists; a longer list is easier to type than to scroll."""
    listed = about.get("enum", [])
    texts = [choice for choice in listed if isinstance(choice, str)]
    return tuple(texts) if texts and len(texts) == len(listed) <= 20 else ()


def _is_short(about: Mapping[str, Any]) -> bool:
    """True for texts that fit one line; a control of one line cannot hold a line end, so only where none may be."""
    limit = about.get("maxLength")
    return isinstance(limit, int) and limit <= SHORT
