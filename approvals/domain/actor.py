"""Who acts, through which door: plain data that every service is given and every audit event records."""

from dataclasses import dataclass, field
from uuid import uuid4


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an agent or a part of the system, as of now.

    `via` is the door (`web`, `api`, `command`, `admin`, `worker`), `acts_for_id` the person an agent's token is
    bound to, `scopes` what the token may be used for (None: no token); `correlation_id` ties one request to all it
    caused.
    """

    kind: str
    name: str
    via: str
    user_id: int | None = None
    acts_for_id: int | None = None
    scopes: frozenset[str] | None = None
    address: str = ""
    correlation_id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def label(self) -> str:
        """Gives the stable form of audit and outbox: `person:ben`, `agent:reply-bot`, `system:drain_outbox`."""
        return f"{self.kind}:{self.name}"

    @property
    def person_id(self) -> int:
        """Gives the id of the user who acts; only services whose permission excludes the system ask."""
        if self.user_id is None:
            raise LookupError(f"{self.label} is no user")
        return self.user_id

    @property
    def is_system(self) -> bool:
        return self.kind == "system"


def system(command: str, *, via: str = "worker") -> Actor:
    """Gives the actor of a worker or command; never a leftover of somebody's request."""
    return Actor(kind="system", name=command, via=via)
