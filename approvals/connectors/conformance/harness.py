"""What the suite needs from whoever wants a connector tested: a remote that does as it is told."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Self
from uuid import UUID, uuid4

from approvals.connectors.base import Capability, Connector, Job, Settings
from approvals.connectors.conformance.behaviour import EVERY, Behaviour, Verb
from approvals.connectors.outbound import Outbound
from approvals.domain.binding import Corrects, TargetRef, bind


class Harness(ABC):
    """A remote for one test, real or a faithful stand-in, with nothing in it yet. A context manager.

    The first half says what is tested, the second half is the remote.
    """

    connector_class: ClassVar[type[Connector]]
    operation: ClassVar[str]
    resource: ClassVar[str]
    correcting_operation: ClassVar[str] = ""  # the operation of a correction; "" where there is none
    declares: ClassVar[frozenset[Capability]]  # what the channel can do, but for corrections
    behaviours: ClassVar[frozenset[Behaviour]] = EVERY  # what this remote can be made to do
    evidence_keys: ClassVar[frozenset[str]] = frozenset({"status", "headers", "timing"})  # of an answered call
    reads: ClassVar[bool] = False  # whether `read` can tell what stands at the target

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """A channel that uses the remote, with everything declared that is to be tested."""

    @property
    @abstractmethod
    def environ(self) -> Mapping[str, str]:
        """The environment with the channel's secret and its hosts; empty where it has none."""

    @property
    def markers(self) -> tuple[str, ...]:
        """Texts that must show nowhere: secrets, and what is made of them."""
        return tuple(value for name, value in self.environ.items() if not name.endswith("_HOSTS"))

    @abstractmethod
    def payload(self, text: str) -> dict[str, Any]:
        """A payload of the operation that differs with `text` and only with it."""

    def standing(self, payload: dict[str, Any]) -> dict[str, Any]:
        """What `read` shows where this payload stands."""
        return payload

    def faults(self) -> Iterable[tuple[str, Settings]]:
        """(name, settings) that `check` has to refuse, beyond those the suite makes itself."""
        return ()

    @abstractmethod
    def __enter__(self) -> Self:
        """Start the remote."""

    @abstractmethod
    def __exit__(self, *exc_info: object) -> None:
        """End it."""

    @abstractmethod
    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        """Treat the next call of this verb so, and all others as a healthy remote does."""

    @abstractmethod
    def requests(self) -> int:
        """How many requests have arrived, of any kind; a greeting is none."""

    @abstractmethod
    def effects(self) -> int:
        """How many writes have taken effect, retractions not counted. A repeat that the remote knew counts once."""

    def change(self, remote_id: str) -> None:
        """Edit what was written as somebody else would. Needed with `verify`."""
        raise NotImplementedError

    def remove(self, remote_id: str) -> None:
        """Take it away as somebody else would. Needed with `verify`."""
        raise NotImplementedError

    # What follows is made of the above and need not be written again.

    def connect(self, *, allow_private: bool = True, environ: Mapping[str, str] | None = None) -> Connector:
        """The connector on a client of its own."""
        known = self.environ if environ is None else environ
        return self.connector_class(Outbound(allow_private=allow_private, environ=known))

    def job(
        self,
        text: str = "one",
        *,
        remote_id: str | None = None,
        delivery_id: UUID | None = None,
        corrects: Corrects | None = None,
    ) -> Job:
        """A delivery that nobody has sent yet, rendered as it would be for an approval."""
        settings, delivery_id = self.settings, delivery_id or uuid4()
        operation = self.correcting_operation if corrects else self.operation
        target = TargetRef(settings.connector, settings.account, self.resource)
        binding = bind(operation=operation, target=target, payload=self.payload(text), corrects=corrects)
        request = self.connect().render(binding, delivery_id, settings)
        now = datetime.now(UTC)
        return Job(request, binding, delivery_id, settings, operation, remote_id, begun_at=now)
