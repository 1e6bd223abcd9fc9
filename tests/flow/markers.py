"""Secrets with a mark in them, and the search for it in everything the system keeps or says."""

import base64
import html
import io
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import Client

from reviewroom.logs import TEXT, JsonFormatter

MARK = re.compile(r"MRK[A-Za-z0-9]{8,}")
"""What a secret of these tests holds, once or more. Letters and digits only: few encodings change those."""
_LINK = re.compile(r"""(?:href|src|action|hx-get|hx-post)=["']([^"']+)["']""")


def forms(secrets: Iterable[str]) -> dict[str, str]:
    """Every spelling of the marks in these secrets that a search has to look for, with what it is."""
    found: dict[str, str] = {}
    for secret in secrets:
        marks = MARK.findall(secret)
        assert marks, "a secret without a mark would never be found"
        for mark in marks:
            found |= {mark: mark, mark.encode().hex(): f"{mark} as hex", mark[::-1]: f"{mark} backwards"}
            found |= dict.fromkeys(_in_base64(mark), f"{mark} in base64")
    return found


def hits(secrets: Iterable[str], places: Iterable[tuple[str, str]]) -> list[str]:
    """(place, what was found there) of every mark that shows."""
    wanted = forms(secrets)
    return sorted({f"{name}: {what}" for name, text in places for form, what in wanted.items() if form in text})


def database() -> Iterator[tuple[str, str]]:
    """Every value of every table, as text."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                yield from ((f"table {table}.{name}", _text(value)) for name, value in zip(names, row, strict=True))


def pages(client: Client, *starts: str, most: int = 0) -> Iterator[tuple[str, str]]:
    """These pages with their headers, and up to so many more that links lead to from them."""
    waiting, seen = list(starts), set(starts)
    most += len(seen)
    while waiting:
        address = waiting.pop(0)
        response = client.get(address)
        content = response.getvalue().decode(errors="replace")
        yield f"page {address} ({response.status_code})", content + str(dict(response.headers))
        for link in map(html.unescape, _LINK.findall(content)):
            link = address.split("?")[0] + link if link.startswith("?") else link.split("#")[0]
            if (
                link.startswith("/")
                and not link.startswith(("//", "/static/"))
                and link not in seen
                and len(seen) < most
            ):
                seen.add(link)
                waiting.append(link)


def commands(references: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What the commands that look say."""
    calls = [
        ("verify_audit",),
        *(("explain", one, f"--format={form}") for one in references for form in ("text", "json")),
    ]
    for call in calls:
        out = io.StringIO()
        call_command(*call, stdout=out, stderr=out)
        yield f"command {' '.join(call)}", out.getvalue()


def api(client: Client, token: str, addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What the API answers to whoever holds the token."""
    for address in addresses:
        response = client.get(address, headers={"Authorization": f"Bearer {token}"})
        yield f"API {address} ({response.status_code})", response.content.decode() + str(dict(response.headers))


class Logs:
    """All that is logged, by everybody and down to DEBUG, in both forms."""

    def __init__(self) -> None:
        self.written = io.StringIO()

    @contextmanager
    def kept(self) -> Iterator["Logs"]:
        root, level = logging.getLogger(), logging.getLogger().level
        handlers = [logging.StreamHandler(self.written) for _ in range(2)]
        for handler, form in zip(handlers, (JsonFormatter(), logging.Formatter(TEXT)), strict=True):
            handler.setFormatter(form)
            root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            yield self
        finally:
            root.setLevel(level)
            for handler in handlers:
                root.removeHandler(handler)

    def places(self) -> Iterator[tuple[str, str]]:
        yield from ((f"log {line[:80]}", line) for line in self.written.getvalue().splitlines())


def _in_base64(mark: str) -> Iterator[str]:
    """The mark inside a longer text, at each of the three ways the groups of base64 can fall."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + mark.encode()).decode().rstrip("=")
        whole = (shift + len(mark)) * 8 // 6
        yield encoded[-(-shift * 8 // 6) : whole]


def _text(value: Any) -> str:
    if isinstance(value, memoryview):
        value = bytes(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
