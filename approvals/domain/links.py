"""Links that lead elsewhere than they seem to: hosts with foreign letters, a name before an @."""

import re
import unicodedata
from collections.abc import Iterator

import idna

_AUTHORITY = re.compile(r"(?:(?<=//)|(?<=mailto:)|(?<=@)|(?<![\w.])(?=www\.))[^\s/?#\\\"'<>()\[\]{},;]+", re.IGNORECASE)
_LONGEST_HOST = 253
# Scripts that one word may well be written in together; "COMMON" are digits and signs.
_FAMILIES = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)

Finding = tuple[str, str, int]  # kind, message, count


def suspicious_hosts(text: str) -> Iterator[Finding]:
    """Gives a finding for each host in the text's links and addresses that deserves a second look.

    Kinds: `mixed_script` and `international_host` (with the punycode that a browser asks for), `invalid_host`,
    `link_user`. The messages are ASCII whatever the text holds.
    """
    hosts: dict[str, int] = {}
    for link in _AUTHORITY.finditer(text):
        user, _, authority = link[0].rpartition("@")
        host = authority.partition(":")[0].rstrip(".!*_~|").lower()
        hosts[host] = hosts.get(host, 0) + 1
        if user and text.endswith("//", 0, link.start()):
            yield (
                "link_user",
                f"A link names a user before its host, {_ascii(host)}. It leads to that host.",
                1,
            )
    for host, count in hosts.items():
        if not host.isascii() or "xn--" in host:
            yield (*_judged(host), count)


def _judged(host: str) -> tuple[str, str]:
    try:
        punycode = idna.encode(host[: _LONGEST_HOST + 1], uts46=True).decode("ascii")
        labels = idna.decode(punycode).split(".")
    except UnicodeError:
        return "invalid_host", f"The host {_ascii(host)} in a link is no valid name."
    letters = sorted({char for label in labels for char in label if not char.isascii()})
    named = ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in letters[:4])
    for scripts in map(_scripts, labels):
        if len(scripts) > 1 and not any(scripts <= family for family in _FAMILIES):
            mixed = " and ".join(sorted(script.title() for script in scripts))
            return "mixed_script", f"A link leads to {punycode}, a name that mixes {mixed} letters: {named}."
    return "international_host", f"A link leads to {punycode}, written with {named or 'other characters'}."


def _scripts(label: str) -> set[str]:
    """Gives the scripts of a label's letters, by the first word of their Unicode names."""
    return {unicodedata.name(char, "UNKNOWN").split()[0].split("-")[0] for char in label if char.isalpha()}


def _ascii(host: str) -> str:
    return host[: _LONGEST_HOST + 1].encode("unicode_escape").decode("ascii")
