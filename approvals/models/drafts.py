"""Drafts, their immutable revisions, and who is excluded from deciding on them."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals.domain.states import DRAFT, QUEUE_RANK, DraftState
from approvals.models.moves import StateModel, move, state_field
from approvals.models.rooms import Channel, Room
from approvals.models.targets import Target

ATTENTION_RANK = 6
"""Drafts ranked below this are in the queue; the others are at rest."""


class Draft(StateModel):
    """The proposal across its life. `version` is the number of its newest revision, `seq` grows with every change.

    Title, note and context are the proposer's words: shown apart, hashed nowhere, read by no connector.
    """

    state = state_field(DRAFT)
    room = models.ForeignKey(Room, on_delete=models.PROTECT, related_name="drafts")
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="drafts")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="drafts")
    operation = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    context = models.JSONField(null=True, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="drafts")
    acts_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="drafts_for"
    )
    reason = models.CharField(max_length=1000, blank=True)
    version = models.PositiveIntegerField(default=1)
    seq = models.PositiveIntegerField(default=1)
    not_before = models.DateTimeField(null=True, blank=True)
    corrects = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="corrections")
    approval = models.OneToOneField(
        "Approval", on_delete=models.PROTECT, null=True, blank=True, related_name="+", editable=False
    )
    queue_rank = models.PositiveSmallIntegerField(default=QUEUE_RANK[DraftState.DRAFT])
    due_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    submit = move(DRAFT, "submit", state)
    rework = move(DRAFT, "rework", state)
    reopen = move(DRAFT, "reopen", state)
    approve = move(DRAFT, "approve", state)
    request_changes = move(DRAFT, "request_changes", state)
    reject = move(DRAFT, "reject", state)
    revoke = move(DRAFT, "revoke", state)
    withdraw = move(DRAFT, "withdraw", state)
    expire = move(DRAFT, "expire", state)
    begin = move(DRAFT, "begin", state)
    deliver = move(DRAFT, "deliver", state)
    fail = move(DRAFT, "fail", state)
    lose = move(DRAFT, "lose", state)
    resend = move(DRAFT, "resend", state)
    retry = move(DRAFT, "retry", state)
    confirm = move(DRAFT, "confirm", state)
    retract = move(DRAFT, "retract", state)
    verify_gone = move(DRAFT, "verify_gone", state)
    lose_retraction = move(DRAFT, "lose_retraction", state)
    fail_retraction = move(DRAFT, "fail_retraction", state)
    retry_retraction = move(DRAFT, "retry_retraction", state)

    class Meta:
        indexes = [
            models.Index(
                fields=["queue_rank", "due_at", "id"],
                name="draft_queue",
                condition=Q(queue_rank__lt=ATTENTION_RANK),
            ),
            models.Index(fields=["room", "queue_rank", "due_at", "id"], name="draft_room_queue"),
            models.Index(fields=["room", "-id"], name="draft_room_newest"),
            models.Index(fields=["target", "state"], name="draft_target_state"),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.title}"

    @property
    def reference(self) -> str:
        return f"RR-{self.pk}"

    def touch(self, now: datetime, *, due_at: datetime | None = None) -> tuple[str, ...]:
        """Counts one change and places the draft in the queue; gives the columns that changed."""
        self.seq += 1
        self.updated_at = now
        self.queue_rank = QUEUE_RANK[DraftState(self.state)]
        self.due_at = due_at or now
        return ("seq", "updated_at", "queue_rank", "due_at")


class Revision(models.Model):
    """One immutable iteration: the canonical bytes that are hashed, shown and sent."""

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="+")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="+")
    operation = models.CharField(max_length=100)
    canonical = models.BinaryField()
    digest = models.CharField(max_length=71)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="revisions")
    acts_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "number"], name="one_revision_per_draft_and_number")]
        indexes = [models.Index(fields=["digest", "created_at"], name="revision_digest")]

    def __str__(self) -> str:
        return f"{self.draft.reference} revision {self.number}"


class Exclusion(models.Model):
    """Someone who may never decide on a draft: an author of any revision, or a person an author agent acts for."""

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="exclusions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="exclusions")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "user"], name="one_exclusion_per_draft_and_user")]

    def __str__(self) -> str:
        return f"{self.user} on {self.draft.reference}"
