"""What an outcome makes of a record: the bodies that receipts, look-ups, sweepers and people share."""

from approvals.domain.combinations import NONE
from approvals.domain.states import DRAFT
from tests.model.record import (
    AGAIN,
    ENDED,
    NEVER,
    SETTLED,
    UNDO,
    WRITE,
    C,
    Record,
    T,
    W,
    World,
    claim_goes,
    delivery_goes,
    draft_goes,
)
from tests.model.steps import GREW, GREW_BY_WRITE, NOTHING, Move


def growth(kind: str, world: World) -> int:
    """Gives what a delivered write or retraction does to the other draft: on an exclusive target the ground moves."""
    if not world.exclusive:
        return NOTHING
    return GREW_BY_WRITE if kind == WRITE else GREW


def deliver(record: Record, kind: str, world: World) -> Record:
    changes: dict[str, object] = {kind: delivery_goes(record, kind, "deliver"), "held": False}
    if kind == WRITE:
        changes |= {"draft": draft_goes(record, "deliver"), "newer": False, "unsure": False}
    elif not world.readable and record.draft == T.RETRACTING:
        changes["draft"] = draft_goes(record, "lose_retraction")
    return record._replace(**changes)


def fail(record: Record, kind: str, verb: str) -> Record:
    """Ends a delivery by `refuse` or `cancel`; the draft fails with it."""
    draft = draft_goes(record, "fail" if kind == WRITE else "fail_retraction")
    return record._replace(**{kind: delivery_goes(record, kind, verb)}, draft=draft, unsure=False)


def lose(record: Record, kind: str, world: World) -> Record:
    """Says that nobody knows. What was left to a person is looked at, or sent, once more."""
    absent = record.absent
    if absent == SETTLED:
        absent = SETTLED + 1 if world.readable else NEVER
    if getattr(record, kind) != W.SENDING:
        return record._replace(absent=absent)
    draft = draft_goes(record, "lose" if kind == WRITE else "lose_retraction")
    return record._replace(**{kind: delivery_goes(record, kind, "lose")}, draft=draft, absent=absent)


def wait(record: Record, kind: str) -> Record:
    """Makes a delivery due again."""
    waiting = record._replace(**{kind: delivery_goes(record, kind, "wait")}, unsure=False)
    verb = "resend" if kind == WRITE else "retry_retraction"
    if waiting.draft in DRAFT.edge(verb).sources:
        return waiting._replace(draft=draft_goes(waiting, verb))
    return waiting


def settle(record: Record, world: World, *, known: bool) -> Record:
    """Moves the dispatch claim with the outcome of the newest attempt."""
    if record.claim == C.SENDING:
        keeps = not known and world.exclusive and not world.lacks("an exclusive target waits for the outcome")
        return record._replace(claim=claim_goes(record, "lose" if keeps else "settle"))
    if record.claim == C.UNCERTAIN and known:
        return record._replace(claim=claim_goes(record, "clear"))
    needless = record.purpose == AGAIN and getattr(record, record.open_kind) == W.DELIVERED
    if record.claim == C.RESERVED and needless:
        return record._replace(claim=claim_goes(record, "release"))
    return record


def found(record: Record, world: World, step: tuple[str, ...]) -> Move:
    """The write arrived after all."""
    return Move(step, settle(deliver(record, WRITE, world), world, known=True), effect=growth(WRITE, world))


def gone(record: Record, world: World, step: tuple[str, ...]) -> Move:
    """The retraction did what it was to do."""
    effect = NOTHING
    if record.undo != W.DELIVERED:
        record = deliver(record, UNDO, world)
        effect = growth(UNDO, world)
    settled = settle(record, world, known=True)
    return Move(step, settled._replace(draft=draft_goes(settled, "verify_gone")), effect=effect)


def still_there(record: Record, world: World) -> Record:
    """What was to go is still public. Of an unknown retraction that is the answer, whatever holds it."""
    if record.undo == W.UNKNOWN:
        return settle(fail(record, UNDO, "refuse")._replace(held=False), world, known=True)
    if record.held:
        return record._replace(held=False)
    return record._replace(draft=draft_goes(record, "fail_retraction"))


def not_there(record: Record, world: World) -> Record:
    """The write did not arrive: a person says so, late enough."""
    if record.write == W.UNKNOWN:
        return settle(fail(record, WRITE, "refuse")._replace(held=False), world, known=True)
    return record._replace(held=False)


def end_lease(record: Record) -> Record:
    """Ends the newest attempt's lease, and with a retraction's that of the write before it, if a worker is left."""
    workers = tuple(
        worker._replace(newest=False) if record.undo != NONE and worker.kind == WRITE else worker
        for worker in record.workers
    )
    return record._replace(age=ENDED, workers=workers)
