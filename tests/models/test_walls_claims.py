"""What must hold around approvals and dispatch claims: one live approval, one claim, a holder, epochs that rise."""

from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from approvals.models.walls import FROZEN, IMMUTABLE, MACHINE_OF, STANDS_IN_THE_WAY
from tests.models.rows import LATER, NOON, Rows, change, insert_like, run

pytestmark = pytest.mark.broken_on_purpose

HELD = ("reserved", "sending", "uncertain")
HOLDER: dict[str, Any] = {"token": None, "lease_until": None, "owner": "", "delivery_id": None}


def holder(**changes: Any) -> dict[str, Any]:
    return {"token": uuid4(), "owner": "worker-2", "lease_until": LATER, "delivery_id": uuid4(), **changes}


def commit_change(row: models.Model, **values: Any) -> None:
    """Changes a row and asks the deferred foreign keys, as a commit would."""
    change(row, **values)
    connection.check_constraints()


@pytest.mark.parametrize("state", ["pending", "approved"])
def test_a_draft_has_one_live_approval(rows, state):
    rows.in_state("Approval", state)
    with pytest.raises(IntegrityError):
        insert_like(rows["Approval"], id="0" * 32, state="pending")


@pytest.mark.parametrize("state", ["rejected", "superseded", "revoked", "expired", "consumed"])
def test_an_ended_approval_makes_room_for_the_next(rows, state):
    rows.in_state("Approval", state)
    assert insert_like(rows["Approval"], id="0" * 32, state="pending", delivery=None) == 1


def test_two_drafts_of_a_target_may_each_have_a_live_approval(rows):
    other = Rows()
    other.made["Target"] = rows["Target"]
    assert rows["Approval"].target_id == other["Approval"].target_id


def test_an_approval_is_not_consumed_without_a_delivery(rows):
    rows.in_state("Approval", "approved")
    with pytest.raises(IntegrityError, match="consumed_approval_has_a_delivery"):
        change(rows["Approval"], state="consumed")


def test_a_consumed_approval_does_not_lose_its_delivery(rows):
    rows.in_state("Approval", "consumed")
    with pytest.raises(IntegrityError, match="consumed_approval_has_a_delivery"):
        change(rows["Approval"], delivery=None)


def test_a_consumed_approval_names_a_delivery_that_is_there(rows):
    rows.in_state("Approval", "approved")
    with pytest.raises(IntegrityError), transaction.atomic():
        commit_change(rows["Approval"], state="consumed", delivery=uuid4())


def test_an_approval_has_one_write(rows):
    with pytest.raises(IntegrityError):
        insert_like(rows["Delivery"], id="0" * 32, state="sending")


def test_an_approval_has_one_open_retraction(rows):
    rows.delivery(kind="retract", state="waiting")
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delivery(kind="retract", state="waiting")


@pytest.mark.parametrize("state", ["refused", "cancelled", "unknown"])
def test_a_retraction_that_may_be_tried_again_still_counts_as_open(rows, state):
    rows.made["Delivery"] = rows.delivery(kind="retract", state="waiting")
    rows.in_state("Delivery", state)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delivery(kind="retract", state="waiting")


def test_conditional_uniqueness_is_guarded_in_every_model_that_has_it():
    """OR REPLACE resolves these conflicts too, so SQLite's guard must know each of them."""
    conditional = {
        model.__name__
        for model in (apps.get_model("approvals", name) for name in (*MACHINE_OF, *IMMUTABLE, *FROZEN))
        if any(getattr(constraint, "condition", None) for constraint in _unique(model))
    }
    assert conditional == set(STANDS_IN_THE_WAY)


def _unique(model: Any) -> list[models.UniqueConstraint]:
    return [constraint for constraint in model._meta.constraints if isinstance(constraint, models.UniqueConstraint)]


def test_a_target_has_one_dispatch_claim(rows):
    with pytest.raises(IntegrityError):
        insert_like(rows["DispatchClaim"])


@pytest.mark.parametrize("state", HELD)
@pytest.mark.parametrize("column", HOLDER)
def test_a_held_claim_names_its_holder(rows, state, column):
    rows.in_state("DispatchClaim", state)
    with pytest.raises(IntegrityError, match=r"names_its_holder|next epoch and a new token"):
        change(rows["DispatchClaim"], **{column: HOLDER[column]})


@pytest.mark.parametrize("column", ["token", "lease_until", "owner", "delivery_id"])
def test_a_claim_is_not_reserved_without_a_holder(rows, column):
    with pytest.raises(IntegrityError, match=r"names_its_holder|next epoch and a new token"):
        change(rows["DispatchClaim"], state="reserved", epoch=1, **holder(**{column: HOLDER[column]}))


@pytest.mark.parametrize("epoch", [0, 2, 100])
def test_a_reservation_takes_the_next_epoch(rows, epoch):
    with pytest.raises(IntegrityError, match="needs the next epoch and a new token"):
        change(rows["DispatchClaim"], state="reserved", epoch=epoch, **holder())


def test_a_reservation_takes_a_new_token(rows):
    claim = rows.in_state("DispatchClaim", "reserved")
    change(claim, state="idle")
    with pytest.raises(IntegrityError, match="needs the next epoch and a new token"):
        change(claim, state="reserved", epoch=2, **holder(token=claim.token))


def test_a_reserved_claim_may_be_taken_over_with_the_next_epoch_and_a_new_token(rows):
    claim = rows.in_state("DispatchClaim", "reserved")
    assert change(claim, epoch=2, **holder()) == 1


@pytest.mark.parametrize("taken", [{"epoch": 2}, {"token": uuid4()}, {"epoch": 3, "token": uuid4()}], ids=", ".join)
def test_a_reserved_claim_is_not_taken_over_by_half(rows, taken):
    claim = rows.in_state("DispatchClaim", "reserved")
    with pytest.raises(IntegrityError, match="needs the next epoch and a new token"):
        change(claim, **taken)


def test_the_holder_of_a_reserved_claim_may_renew_its_lease(rows):
    claim = rows.in_state("DispatchClaim", "reserved")
    assert change(claim, lease_until=NOON) == 1


@pytest.mark.parametrize("state", MACHINE_OF["DispatchClaim"].states)
def test_an_epoch_never_goes_back(rows, state):
    rows.in_state("DispatchClaim", "reserved")
    change(rows["DispatchClaim"], state="idle")
    claim = rows.in_state("DispatchClaim", state)
    with pytest.raises(IntegrityError, match=r"an epoch never goes back|needs the next epoch"):
        change(claim, epoch=claim.epoch - 1)


def test_a_draft_cannot_point_at_the_approval_of_nobody(rows):
    draft = rows["Draft"]
    with pytest.raises(IntegrityError), transaction.atomic():
        commit_change(draft, approval=uuid4())


def test_there_is_one_installation(db):
    with pytest.raises(IntegrityError):
        run("INSERT INTO approvals_installation (id, instance_id, walls_digest) VALUES (2, 'copy', '')")
