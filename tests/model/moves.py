"""Every step the model can take from one record: the guards of the services, and nothing more."""

from collections.abc import Iterator

from tests.model import clocks, dispatching, people, remote
from tests.model.record import Record, World
from tests.model.steps import Move


def moves(record: Record, world: World) -> Iterator[Move]:
    yield from people.authors(record)
    yield from people.reviewers(record)
    yield from people.housekeeping(record)
    yield from people.after_sending(record, world)
    yield from clocks.time(record, world)
    yield from dispatching.claims(record, world)
    yield from dispatching.workers(record, world)
    yield from remote.network(record, world)
    yield from remote.reconciler(record, world)
