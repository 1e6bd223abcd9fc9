"""URL templates: `{delivery_id}`, `{remote_id}`, `{account}`, `{resource}` in a path or a query value."""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

NAMES = frozenset({"delivery_id", "remote_id", "account", "resource"})
MAX_VALUE_BYTES = 512
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLAIN_URL = re.compile(r"[!-~]+")  # visible ASCII: nothing is re-encoded between the check and the wire


class PlaceholderError(ValueError):
    """A value cannot be put into a URL without changing what the URL names."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def names(template: str) -> frozenset[str]:
    """The placeholders a template uses."""
    return frozenset(_PLACEHOLDER.findall(template))


def in_path(template: str, name: str) -> bool:
    return f"{{{name}}}" in urlsplit(template).path


def problem(template: str, allowed: frozenset[str] = NAMES) -> str | None:
    """Why the template cannot be used, or None."""
    if not _PLAIN_URL.fullmatch(template) or "\\" in template:
        return "A URL may hold only visible ASCII characters and no backslash; percent-encode the others."
    if unknown := sorted(names(template) - allowed):
        return f"Unknown or unusable placeholder {{{unknown[0]}}}; here {_listed(allowed)} can be filled."
    if re.search(r"[{}]", _PLACEHOLDER.sub("", template)):
        return "A brace may stand only around a placeholder; percent-encode it otherwise."
    return _misplaced(template)


def fill(template: str, values: Mapping[str, str | None]) -> str:
    """The URL, each value percent-encoded as one path segment or query value. Raises PlaceholderError."""
    return _PLACEHOLDER.sub(lambda match: _encoded(match[1], values.get(match[1])), template)


def value_problem(value: str | None) -> str | None:
    """Why a value can be no path segment, or None."""
    if value is None:
        return "is not known"
    if not value:
        return "is empty"
    if value in (".", ".."):
        return "is a dot segment, which would name another resource"
    if not value.isprintable():
        return "holds a control character or another that cannot be shown"
    if len(value.encode()) > MAX_VALUE_BYTES:
        return f"is longer than {MAX_VALUE_BYTES} bytes"
    return None


def _encoded(name: str, value: str | None) -> str:
    fault = value_problem(value)
    if value is None or fault:
        raise PlaceholderError(name, f"The value for {{{name}}} {fault}.")
    return quote(value, safe="")


def _misplaced(template: str) -> str | None:
    parts = urlsplit(template)
    if parts.scheme not in ("http", "https"):
        return "A URL begins with https:// or http://."
    query_names = [pair.partition("=")[0] for pair in parts.query.split("&")]
    if "{" in parts.netloc or any("{" in name for name in query_names):
        return "Placeholders may stand only in the path or as query values, not in the host or a query name."
    if {".", ".."} & set(parts.path.replace("%2e", ".").replace("%2E", ".").split("/")):
        return "A path may not hold the segments . and .. ."
    return None


def _listed(allowed: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(allowed)) or "nothing"
