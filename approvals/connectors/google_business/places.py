"""Where things are at Google, and what may be asked for there."""

from typing import Any
from urllib.parse import quote, urlsplit

from approvals.connectors import addresses
from approvals.connectors.base import ConfigError, Settings
from approvals.connectors.placeholders import MAX_VALUE_BYTES, value_problem
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

BASE_URL = "https://mybusiness.googleapis.com/v4"
TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 (an address)
MAX_COMMENT_BYTES = 4096
_REVIEW = "locations/<location>/reviews/<review>"


def base_url(settings: Settings) -> str:
    return str(settings.config.get("base_url", BASE_URL)).rstrip("/")


def token_url(settings: Settings) -> str:
    return str(settings.config.get("token_url", TOKEN_URL))


def review_name(binding: Binding) -> str:
    return f"accounts/{binding.target.account}/{binding.target.resource}"


def reply_name(binding: Binding) -> str:
    """What stands for the reply: it has no id of its own, and its review has no other."""
    return f"{review_name(binding)}/reply"


def review_url(binding: Binding, settings: Settings) -> str:
    steps = review_name(binding).split("/")
    return "/".join([base_url(settings), *(quote(step, safe="") for step in steps)])


def reply_url(binding: Binding, settings: Settings) -> str:
    return f"{review_url(binding, settings)}/reply"


def check_names(settings: Settings) -> None:
    """Raise ConfigError for an account, or a place for drafts, that is none of Google's."""
    if "/" in settings.account or value_problem(settings.account):
        raise ConfigError("/account", "Give the number of the account alone, without accounts/.")
    if not _names_review(settings.resource or settings.resource_pattern):
        field = "resource" if settings.resource else "resource_pattern"
        raise ConfigError(f"/{field}", f"It has to be of the form {_REVIEW}, where * may stand for an id.")


def check_address(pointer: str, url: str) -> None:
    """Raise ConfigError for an address to which tokens would travel in the clear, or that cannot be added to."""
    parts = urlsplit(url)
    address = addresses.literal(parts.hostname or "")
    if parts.scheme != "https" and not (address is not None and address.is_loopback):
        raise ConfigError(pointer, "Tokens are sent there: begin the address with https://.")
    if parts.query:
        raise ConfigError(pointer, "Give the address without a query.")


def check_resource(binding: Binding) -> None:
    """Raise InvalidPayload for a resource that is no review."""
    if not _names_review(binding.target.resource):
        raise InvalidPayload(f"Name a review: {_REVIEW}.", pointer="/resource")
    if len(reply_name(binding).encode()) > MAX_VALUE_BYTES:
        raise InvalidPayload("The name of the review is too long.", pointer="/resource")


def check_payload(payload: dict[str, Any]) -> None:
    """Raise InvalidPayload for what Google would refuse, or would not keep."""
    for key in payload:
        if key != "comment":
            raise InvalidPayload("A reply holds a comment and nothing else.", pointer=pointers.build(["payload", key]))
    comment = payload.get("comment")
    if not isinstance(comment, str) or not comment.strip():
        raise InvalidPayload("Give the text of the reply as comment.", pointer="/payload/comment")
    size = len(comment.encode())
    if size > MAX_COMMENT_BYTES:
        raise InvalidPayload(
            f"The comment takes {size:,} bytes and may take {MAX_COMMENT_BYTES:,}.", pointer="/payload/comment"
        )


def _names_review(resource: str) -> bool:
    steps = resource.split("/")
    return len(steps) == 4 and (steps[0], steps[2]) == ("locations", "reviews") and not any(map(value_problem, steps))
