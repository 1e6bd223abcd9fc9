"""What a channel of this kind says, and its faults."""

from typing import Any

from approvals.connectors import checks
from approvals.connectors.base import ConfigError, Settings
from approvals.connectors.smtp import message

PORTS = {"starttls": 587, "tls": 465, "none": 25}
_TEXT = {"type": "string", "minLength": 1}
_NAME_OR_ADDRESS = r"^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$"

CONFIG_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "host": {"type": "string", "pattern": _NAME_OR_ADDRESS},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "security": {"enum": list(PORTS)},  # starttls unless said otherwise
        "sender": _TEXT,
        "sender_name": {**_TEXT, "maxLength": 120},
        "domain": _TEXT,  # of the Message-ID and the greeting; the sender's unless said otherwise
        "recipient_domains": {"type": "array", "items": _TEXT, "minItems": 1},
        "headers": {"type": "array", "items": _TEXT},  # what payloads may set besides the subject
    },
    "required": ["host", "sender"],
    "additionalProperties": False,
}
OPERATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"schema": {"type": ["object", "boolean"]}},
    "additionalProperties": False,
}


def security(settings: Settings) -> str:
    return str(settings.config.get("security", "starttls"))


def port(settings: Settings) -> int:
    return int(settings.config.get("port", PORTS[security(settings)]))


def url(settings: Settings, scheme: str = "") -> str:
    """The server as a URL that always names the port; secrets are bound to it."""
    host = settings.config["host"]
    scheme = scheme or ("smtps" if security(settings) == "tls" else "smtp")
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port(settings)}"


def check(settings: Settings) -> None:
    """Raise ConfigError for the first fault."""
    checks.check_schema(settings.config, CONFIG_SCHEMA, "config")
    checks.check_secret(settings.secret, required=False)
    _check_kind(settings)
    if not settings.operations:
        raise ConfigError("/operations", "Declare at least one operation.")
    for name, operation in settings.operations.items():
        checks.check_schema(operation, OPERATION_SCHEMA, "operations", name)
        checks.check_payload_schema(operation, "operations", name)
    _check_names(settings)
    _check_resource(settings)


def _check_kind(settings: Settings) -> None:
    if settings.idempotent:
        raise ConfigError("/idempotent", "No mail server dedupes on the delivery id: leave idempotent = false.")
    if settings.concurrency != "append":
        raise ConfigError("/concurrency", 'Mail only adds and replaces nothing: set concurrency = "append".')
    if settings.secret and security(settings) == "none":
        raise ConfigError(
            "/config/security", "A secret never goes over an open connection: use starttls or tls, or no secret."
        )


def _check_names(settings: Settings) -> None:
    config = settings.config
    if not message.is_address(config["sender"]):
        raise ConfigError("/config/sender", "Give one plain address, like reviews@example.org.")
    if not message.is_one_line(config.get("sender_name", "")):
        raise ConfigError("/config/sender_name", "This is one line: no line ends or other control characters.")
    if "domain" in config and not message.is_domain(config["domain"]):
        raise ConfigError("/config/domain", "Give a domain, like example.org.")
    for index, domain in enumerate(config.get("recipient_domains", [])):
        if domain != "*" and not message.is_domain(domain):
            raise ConfigError(f"/config/recipient_domains/{index}", 'Give a domain, like example.org, or "*" for all.')
    for index, name in enumerate(config.get("headers", [])):
        if fault := message.header_name_problem(name):
            raise ConfigError(f"/config/headers/{index}", fault)


def _check_resource(settings: Settings) -> None:
    domains = settings.config.get("recipient_domains")
    if settings.resource:
        try:
            message.check_allowed(message.recipients(settings.resource), domains)
        except ValueError as exc:
            raise ConfigError("/resource", str(exc)) from exc
    if not settings.resource_pattern:
        return
    if settings.resource_pattern != "*":
        raise ConfigError("/resource_pattern", 'An address is one segment: write "*" and narrow recipient_domains.')
    if domains is None:
        raise ConfigError(
            "/config",
            'Add recipient_domains: the domains drafts may write to, like ["example.org"], or ["*"] for everybody.',
        )
