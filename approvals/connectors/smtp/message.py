"""The message as bytes: a pure function of payload, recipients, delivery id and channel.

Everything but the Date, which is added when it is sent, as signatures are. One part, plain text, no boundary. Each
header value comes out of a mail reader exactly as it went in, or it is refused: what reviewers saw is what arrives.
"""

import base64
import quopri
import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from approvals.connectors.base import Settings
from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload

# Only letters, digits and signs that no server gives a meaning of its own: `%` and `!` can name another host to
# forward to, quotes and comments can hide one. No SMTPUTF8: an address beyond ASCII is refused.
_LOCAL = r"[A-Za-z0-9_'+=&~^#$*?{|}-]+(?:\.[A-Za-z0-9_'+=&~^#$*?{|}-]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_ADDRESS = re.compile(rf"(?=.{{1,64}}@)(?:{_LOCAL})@(?:{_DOMAIN})")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")  # printable ASCII, no blank at either end
_PLAIN_PHRASE = re.compile(r"[A-Za-z0-9]{1,60}(?: [A-Za-z0-9]{1,60})*")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")
_WORDS = re.compile(r"(?!.*=\?)[!-~]+(?: [!-~]+)*")
_IDS = re.compile(r"<[!-;=?-~]+>(?: <[!-;=?-~]+>)*")

MAX_DOMAIN = 253
MAX_SUBJECT = 500  # characters
MAX_HEADER = 2000
MAX_WORD = 900  # a line may have 998 (RFC 5322, 2.1.1) and is folded only at blanks
LINE = 76  # of a header, where it can be folded, and of encoded words always (RFC 2047, 2)

MADE_HERE = frozenset({"date", "from", "to", "subject", "message-id", "mime-version"})
_ROUTING = frozenset({"cc", "bcc", "sender", "return-path", "received", "delivered-to", "apparently-to"})
_PREFIXES = ("content-", "resent-", "x-original-", "dkim-", "arc-", "authentication-", "received-")
PAYLOAD_KEYS = ("subject", "text", "headers")
_RECIPIENT_KEYS = ("to", "cc", "bcc", "recipients")


def is_domain(text: str) -> bool:
    return len(text) <= MAX_DOMAIN and re.fullmatch(_DOMAIN, text) is not None


def is_address(text: str) -> bool:
    """Whether this is one plain address like ada@example.org."""
    return _ADDRESS.fullmatch(text) is not None and is_domain(domain_of(text))


def is_one_line(text: str) -> bool:
    return _CONTROL.search(text) is None


def domain_of(address: str) -> str:
    return address.rpartition("@")[2].lower()


def recipients(resource: str) -> list[str]:
    """The addresses a resource names, separated by commas. Raises ValueError, whose text says what is wrong."""
    found = [part.strip(" ") for part in resource.split(",")]
    for address in found:
        if not is_address(address):
            raise ValueError(
                f"{address!r} is not a plain e-mail address like ada@example.org: no name, no quotes, only ASCII "
                "(write another domain as xn--...), and none of % ! /."
            )
    if len({address.lower() for address in found}) < len(found):
        raise ValueError("An address is named twice.")
    return found


def check_allowed(addresses: Iterable[str], domains: list[str] | None) -> None:
    """Raises ValueError for an address outside the channel's domains; None or `*` lets everybody through."""
    allowed = None if domains is None or "*" in domains else {domain.lower() for domain in domains}
    outside = [address for address in addresses if allowed is not None and domain_of(address) not in allowed]
    if outside:
        raise ValueError(f"This channel does not write to {', '.join(outside)}.")


def header_name_problem(name: str) -> str | None:
    """Why a channel cannot let payloads set this header, or None."""
    lower = name.lower()
    if not _HEADER_NAME.fullmatch(name):
        return f"{name!r} is not a header's name."
    if lower in MADE_HERE | _ROUTING or lower.startswith(_PREFIXES):
        return f"{name} is made here or could change where the message goes or how it is read."
    return None


def message_id(delivery_id: UUID, settings: Settings) -> str:
    return f"<{delivery_id}@{id_domain(settings)}>"


def id_domain(settings: Settings) -> str:
    """The right-hand side of the Message-ID, also the name we greet the server with."""
    return str(settings.config.get("domain") or domain_of(settings.config["sender"]))


def compose(payload: Mapping[str, Any], to: list[str], delivery_id: UUID, settings: Settings) -> bytes:
    """The whole message but for its Date, lines ended by CRLF. Raises InvalidPayload."""
    _check_keys(payload)
    lines = [
        _from(settings),
        _folded("To", ", ".join(to)),
        _unstructured("Subject", _header_text(payload.get("subject"), "subject", most=MAX_SUBJECT)),
        _folded("Message-ID", message_id(delivery_id, settings)),
        *_extra(payload.get("headers", {}), settings),
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + _body(payload.get("text"))


def _check_keys(payload: Mapping[str, Any]) -> None:
    for key in payload:
        pointer = pointers.build(["payload", key])
        if key.lower() in _RECIPIENT_KEYS:
            raise InvalidPayload(
                "Leave it out: the resource says who is written to, and nothing in the payload can add to it.",
                pointer=pointer,
            )
        if key not in PAYLOAD_KEYS:
            raise InvalidPayload(f"A message has only {', '.join(PAYLOAD_KEYS)}.", pointer=pointer)


def _from(settings: Settings) -> str:
    sender, name = settings.config["sender"], settings.config.get("sender_name", "")
    if not name:
        return _folded("From", sender)
    phrase = name if _PLAIN_PHRASE.fullmatch(name) else _encoded_words(name, "From")
    return _folded("From", f"{phrase} <{sender}>")


def _extra(headers: Any, settings: Settings) -> list[str]:
    """The headers the channel lets payloads set, in the order of their names."""
    if not isinstance(headers, dict):
        raise InvalidPayload('Make headers an object, like {"X-Ticket": "17"}.', pointer="/payload/headers")
    allowed = {name.lower(): name for name in settings.config.get("headers", [])}
    found: dict[str, str] = {}
    for name, value in headers.items():
        known, pointer = allowed.get(name.lower()), pointers.build(["payload", "headers", name])
        if known is None or known in found:
            told = ", ".join(sorted(allowed.values())) or "none"
            raise InvalidPayload(f"A payload may set these headers, each once: {told}.", pointer=pointer)
        found[known] = _extra_line(known, _header_text(value, "headers", name, most=MAX_HEADER), pointer)
    return [found[name] for name in sorted(found)]


def _extra_line(name: str, value: str, pointer: str) -> str:
    """Programs read some headers: those are never encoded, so they have to be what they should be."""
    lower = name.lower()
    if lower == "reply-to":
        fits, wanted = is_address(value), "one address"
    elif lower in ("references", "in-reply-to"):
        fits, wanted = _IDS.fullmatch(value) is not None, "message ids like <id@example.org>"
    elif lower.startswith(("list-", "auto-")):
        fits, wanted = _WORDS.fullmatch(value) is not None, "ASCII words, one blank between two"
    else:
        return _unstructured(name, value)
    if not fits or any(len(word) > MAX_WORD for word in value.split(" ")):
        raise InvalidPayload(f"{name} takes {wanted}.", pointer=pointer)
    return _folded(name, value)


def _header_text(value: Any, *path: str, most: int) -> str:
    """One line of text. A line end here would begin a header of its own."""
    pointer = pointers.build(["payload", *path])
    if not isinstance(value, str) or not value.strip():
        raise InvalidPayload("Give a text that is not empty.", pointer=pointer)
    if not is_one_line(value):
        raise InvalidPayload("This is one line: no line ends, tabs or other control characters.", pointer=pointer)
    if len(value) > most:
        raise InvalidPayload(f"At most {most} characters fit here.", pointer=pointer)
    return value


def _unstructured(name: str, value: str) -> str:
    """As it is where a reader gets back just that, else in encoded words.

    `=?` would be decoded into something that nobody approved, and blanks at the ends would be lost.
    """
    line = f"{name}: {value}"
    if _PLAIN.fullmatch(value) and "=?" not in value and len(line) <= LINE:
        return line
    return _folded(name, _encoded_words(value, name))


def _folded(name: str, value: str) -> str:
    """A value of ASCII words, on as many lines as it needs.

    The first word stays beside the name: some readers take a line end there for a blank of the value.
    """
    first, *rest = value.split(" ")
    lines = [f"{name}: {first}"]
    for word in rest:
        if len(lines[-1]) + 1 + len(word) > LINE:
            lines.append("")
        lines[-1] += f" {word}"
    return "\r\n".join(lines)


def _encoded_words(text: str, name: str) -> str:
    """RFC 2047, base64, no character split. The blanks between the words are no part of the text (6.2)."""
    room = LINE - len(f"{name}: ")
    chunks = [b""]
    for character in text:
        raw = character.encode()
        if len(chunks[-1]) + len(raw) > (room - len("=?utf-8?b??=")) // 4 * 3:
            chunks.append(b"")
            room = LINE - 1
        chunks[-1] += raw
    return " ".join(f"=?utf-8?b?{base64.b64encode(chunk).decode()}?=" for chunk in chunks)


def _body(text: Any) -> bytes:
    r"""Quoted-printable lines of at most 76 characters, pure ASCII: nothing on the way needs to change them.

    `\n` and `\r\n` are both a line end, which is CRLF on the wire; the last line gets one too.
    """
    if not isinstance(text, str):
        raise InvalidPayload("Give the message as a text.", pointer="/payload/text")
    unix = text.replace("\r\n", "\n")
    if "\r" in unix:
        raise InvalidPayload("A carriage return alone is no line end in mail; use \\n.", pointer="/payload/text")
    encoded = quopri.encodestring(unix.encode()).replace(b"\n", b"\r\n")
    return encoded if encoded.endswith(b"\r\n") else encoded + b"\r\n"
