"""The exact bytes: in lines of 72 with their offsets, keys told apart, line ends and ghosts marked; or as hex."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from approvals.connectors.base import Request
from approvals.domain import visible
from approvals.domain.binding import digest_of
from approvals.models import Revision
from approvals.web import words

LINE_BYTES = 72
HEX_BYTES = 16
_ESCAPE = re.compile(r"(\\u[0-9a-f]{4}|\\.)")
_TOKEN = re.compile(rb'(?P<key>"(?:[^"\\]|\\.)*"(?=:))|(?P<string>"(?:[^"\\]|\\.)*")|(?P<other>[^"]+)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    offset: int
    cells: tuple[SafeString, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class RequestView:
    """The request that would go out, secrets by name only."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    secret: str
    body: str
    size: str
    note: str
    made_from: str


@dataclass(frozen=True, slots=True)
class Bytes:
    facts: tuple[Fact, ...]
    rows: list[Row]
    as_hex: bool
    text_url: str
    hex_url: str
    download_url: str
    file_name: str
    digest: str
    matches: bool
    request: RequestView | None


def view(
    revision: Revision,
    request: Request | None,
    *,
    made_from: str,
    hidden_count: int,
    as_hex: bool,
    page_url: str,
    download_url: str,
    file_name: str,
) -> Bytes:
    """Gives the whole tab; the digest is recomputed from the very bytes that are shown."""
    canonical = bytes(revision.canonical)
    return Bytes(
        facts=_facts(canonical, hidden_count),
        rows=list(_hex_rows(canonical) if as_hex else text_rows(canonical)),
        as_hex=as_hex,
        text_url=f"{page_url}?tab=bytes",
        hex_url=f"{page_url}?tab=bytes&as=hex",
        download_url=download_url,
        file_name=file_name,
        digest=digest_of(canonical),
        matches=digest_of(canonical) == revision.digest,
        request=_request(request, canonical, made_from) if request else None,
    )


def text_rows(canonical: bytes) -> Iterator[Row]:
    """Gives lines of at most 72 bytes, never cutting a character or an escape."""
    parts: list[SafeString] = []
    start = used = 0
    for stretch in _stretches(canonical):
        rest = stretch
        while rest.text:
            head, rest = rest.cut(LINE_BYTES - used)
            if head.text:
                parts.append(head.markup())
                used += head.size
            if rest.text:
                yield Row(start, (mark_safe("".join(parts)),))  # noqa: S308  each part is escaped
                parts, start, used = [], start + used, 0
    if parts:
        yield Row(start, (mark_safe("".join(parts)),))  # noqa: S308


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Characters that look alike. An escape is one thing; everything else may be cut between characters."""

    text: str
    is_key: bool
    ghost: visible.Ghost | None = None
    in_override: bool = False

    @property
    def is_escape(self) -> bool:
        return self.text.startswith("\\")

    @property
    def size(self) -> int:
        return len(self.text.encode())

    def cut(self, room: int) -> tuple["_Stretch", "_Stretch"]:
        """Gives what fits into `room` bytes, and the rest; an escape fits whole or not at all."""
        if self.size <= room:
            return self, replace(self, text="")
        head = "" if self.is_escape else self.text.encode()[:room].decode(errors="ignore")
        return replace(self, text=head), replace(self, text=self.text[len(head) :])

    def markup(self) -> SafeString:
        inner = format_html("{}", self.text)
        if self.ghost:
            times = f" ×{len(self.text):,}" if len(self.text) > 1 else ""
            inner = format_html('<span class="ghost">{}{}</span>', self.ghost.label, times)
        elif self.is_escape:
            inner = format_html('<span class="escape">{}</span>', self.text)
        if self.is_key:
            inner = format_html('<span class="bytes-key">{}</span>', inner)
        return format_html('<span class="override">{}</span>', inner) if self.in_override else inner


def _stretches(canonical: bytes) -> Iterator[_Stretch]:
    for token in _TOKEN.finditer(canonical):
        is_key = token.lastgroup == "key"
        for run in visible.runs(token[0].decode()):
            for text in [run.text] if run.ghost else _ESCAPE.split(run.text):
                if text:
                    yield _Stretch(text, is_key, run.ghost, run.in_override)


def _hex_rows(canonical: bytes) -> Iterator[Row]:
    for start in range(0, len(canonical), HEX_BYTES):
        chunk = canonical[start : start + HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in chunk)
        yield Row(start, (format_html("{}", chunk.hex(" ").ljust(HEX_BYTES * 3 - 1)), format_html("{}", text)))


def _facts(canonical: bytes, hidden_count: int) -> tuple[Fact, ...]:
    return (
        Fact("Size", words.plural(len(canonical), "byte")),
        Fact("Encoding", "UTF-8, no BOM"),
        Fact("Canonical form", "RFC 8785 JSON"),
        Fact("Hidden characters", f"{hidden_count:,}"),
    )


def _request(request: Request, canonical: bytes, made_from: str) -> RequestView:
    sliced = bool(request.body) and request.body in canonical
    note = "This body is a slice of the canonical bytes above, unchanged." if sliced else "Made from the bytes above."
    return RequestView(
        method=request.method,
        url=request.url,
        headers=request.headers,
        secret=request.secret,
        body=request.body.decode("utf-8", "backslashreplace"),
        size=words.plural(len(request.body), "byte"),
        note=f"{note} Its digest is kept with the approval and compared right before sending.",
        made_from=made_from,
    )
