"""Who acts, through which door: plain data that every service is given and every audit event records."""

from dataclasses import dataclass, field
from uuid import uuid4


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an agent or a part of the system, as of now.

    `via` is the door (`web`, `api`, `command`, `admin`, `worker`), `acts_for_id` the person an agent's token is
    bound to, `correlation_id` ties one request to all it caused.
    """

    kind: str
    name: str
    via: str
    user_id: int | None = None
    acts_for_id: int | None = None
    address: str = ""
    correlation_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def label(self) -> str:
        """Gives the stable form of audit and outbox: `person:ben`, `agent:reply-bot`, `system:drain_outbox`."""
        return f"{self.kind}:{self.name}"

    @property
    def is_system(self) -> bool:
        return self.kind == "system"


def system(command: str, *, via: str = "worker") -> Actor:
    """Gives the actor of a worker or command; never a leftover of somebody's request."""
    return Actor(kind="system", name=command, via=via)
