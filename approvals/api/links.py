"""Where things are, as paths: the answers never name a host, which a proxy in front may call otherwise."""

from uuid import UUID


def draft(draft_id: int) -> str:
    return f"/v1/drafts/{draft_id}"


def revision(draft_id: int, number: int) -> str:
    return f"{draft(draft_id)}/revisions/{number}"


def canonical(draft_id: int, number: int) -> str:
    return f"{revision(draft_id, number)}/canonical"


def events(draft_id: int) -> str:
    return f"{draft(draft_id)}/events"


def call(draft_id: int, verb: str) -> str:
    """Gives where a verb about a draft is posted."""
    return f"{draft(draft_id)}/{verb}"


def resolve(delivery_id: UUID) -> str:
    return f"/v1/deliveries/{delivery_id}/resolve"


def approval(approval_id: UUID) -> str:
    return f"/v1/approvals/{approval_id}"


def claim(approval_id: UUID) -> str:
    return f"{approval(approval_id)}/claim"


def about(approval_id: UUID, verb: str) -> str:
    """Gives where a verb about an approval is posted."""
    return f"{approval(approval_id)}/{verb}"


def page(draft_id: int) -> str:
    """Gives the page people review a draft on."""
    return f"/drafts/{draft_id}/"
