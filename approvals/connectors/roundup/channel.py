"""A channel's settings, and what is made of them for every call."""

import re
from urllib.parse import urlsplit

from approvals.connectors.base import Settings
from approvals.connectors.secrets import Secret
from approvals.domain.binding import Binding

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # of classes and properties
DEFAULT_ID_PROPERTY = "reviewroom_id"


def base(settings: Settings) -> str:
    return str(settings.config["base_url"]).rstrip("/")


def class_url(binding: Binding, settings: Settings) -> str:
    return f"{base(settings)}/{binding.target.resource}"


def id_property(settings: Settings) -> str:
    return str(settings.config.get("id_property", DEFAULT_ID_PROPERTY))


def headers(settings: Settings) -> tuple[tuple[str, str], ...]:
    """What Roundup asks of a client to believe that it is no browser led astray."""
    web = settings.config.get("web_url") or base(settings).removesuffix("/rest/data")
    parts = urlsplit(web)
    return (
        ("Accept", "application/json"),
        ("X-Requested-With", "Review-Room"),
        ("Origin", f"{parts.scheme}://{parts.netloc}"),
        ("Referer", web.rstrip("/") + "/"),
    )


def authorize(secret: Secret) -> list[tuple[str, str]]:
    return [("Authorization", secret.basic)]
