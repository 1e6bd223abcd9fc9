"""Django's `DATABASES` entry from one URL: `sqlite:///path` or `postgresql://user:password@host:port/name`."""

from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from reviewroom.environment import wrong

EXAMPLES = "Write sqlite:///var/reviewroom.sqlite3 or postgresql://user:password@host:5432/name."

BUSY_SECONDS = 20  # how long a SQLite writer waits for the one before it

# A dispatch claim must survive a power cut before the outgoing write, hence synchronous=FULL.
# recursive_triggers makes INSERT OR REPLACE fire the delete triggers that guard the append-only tables.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA recursive_triggers=ON",
    f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}",
)


def from_url(url: str, base: Path) -> dict[str, Any]:
    """The settings of the one database; a relative SQLite path counts from `base`."""
    parts = urlsplit(url)
    if parts.scheme in {"sqlite", "sqlite3"}:
        return _sqlite(parts, base)
    if parts.scheme in {"postgresql", "postgres"}:
        return _postgresql(parts)
    raise wrong("DATABASE_URL", f"names the scheme {parts.scheme!r}, which is not supported", EXAMPLES)


def _sqlite(parts: SplitResult, base: Path) -> dict[str, Any]:
    path = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not path:
        raise wrong(
            "DATABASE_URL",
            "names no file (a SQLite URL has three slashes, four for an absolute path)",
            EXAMPLES,
        )
    file = base / path
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "ATOMIC_REQUESTS": False,
        "OPTIONS": {
            # A writer waits at BEGIN, not in the middle, where SQLite would refuse at once.
            "transaction_mode": "IMMEDIATE",
            "timeout": BUSY_SECONDS,
            "init_command": ";".join(SQLITE_PRAGMAS),
        },
    }


def _postgresql(parts: SplitResult) -> dict[str, Any]:
    name = unquote(parts.path.removeprefix("/"))
    try:
        port = parts.port
    except ValueError as exc:
        raise wrong("DATABASE_URL", "has a port that is no number", EXAMPLES) from exc
    if not name:
        raise wrong("DATABASE_URL", "names no database", EXAMPLES)
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or options.pop("port", "")),
        "ATOMIC_REQUESTS": False,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,  # a restarted server costs a reconnect, not an error page
        "OPTIONS": {"application_name": "reviewroom", **options},
    }
