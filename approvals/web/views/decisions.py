"""Deciding: one posted verdict on exactly what was shown, and taking it back."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from approvals.domain.binding import short
from approvals.domain.errors import InvalidPayload, Refusal, StaleView
from approvals.domain.gate import Verdict
from approvals.models import Approval
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.selectors import queue as reads
from approvals.services import audit
from approvals.services import decide as deciding
from approvals.services.decide import Decided, Shown
from approvals.web import kept, numbers, respond, view_token, words
from approvals.web.access import actor_of, private
from approvals.web.pages.conflict import Pressed
from approvals.web.pages.draft import Typed
from approvals.web.views import answers

PRESSED = {
    Verdict.APPROVE: "Approve",
    Verdict.REJECT: "Reject",
    Verdict.REQUEST_CHANGES: "Request changes",
}
SAID = {
    Verdict.APPROVE: "You approved",
    Verdict.REJECT: "You rejected",
    Verdict.REQUEST_CHANGES: "You requested changes to",
}
COMMENT_NEEDED = "Say why, so that the author knows what to change."


def decide(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Records the verdict, or shows why not; the comment survives both a fault and a conflict."""
    comment = kept.clean(request.POST.get("comment", ""))
    verdict = request.POST.get("verdict", "")
    pressed = Pressed(_label(verdict), *_named(request), comment=comment)
    if verdict in (Verdict.REJECT, Verdict.REQUEST_CHANGES) and not comment.strip():
        return answers.again(request, draft_id, Typed(comment, COMMENT_NEEDED), status=422)
    try:
        decided = _decide(request, draft_id, verdict, comment)
    except InvalidPayload as refusal:
        return answers.again(request, draft_id, Typed(comment, str(refusal)), status=respond.status_of(refusal))
    except Refusal as refusal:
        return answers.refused(request, draft_id, refusal, pressed)
    kept.forget(request, draft_id)
    return answers.done(request, decided.draft, _said(decided))


@require_POST
@private
def take_back(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Takes this person's own decision back; names the approval only."""
    try:
        approval_id = approval_named(request)
        insist_on(draft_id, approval_id)
        draft = deciding.take_back(actor=actor_of(request), clock=database_now, approval_id=approval_id)
    except Refusal as refusal:
        return answers.refused(request, draft_id, refusal, Pressed("Take your decision back"))
    return answers.done(request, draft, "Your decision is taken back. Nothing of it counts any more.")


def _decide(request: HttpRequest, draft_id: int, verdict: str, comment: str) -> Decided:
    """Reads what was shown and hands it to the service. What the form should have named is never looked up here."""
    actor = actor_of(request)
    if verdict not in PRESSED:
        raise InvalidPayload("Press one of the three buttons: approve, request changes or reject.", pointer="/verdict")
    try:
        reads.draft_for(actor, draft_id)
        shown = _shown(request, actor.user_id or 0)
        insist_on(draft_id, shown.approval_id)
    except Refusal as refusal:
        audit.record_refusal(actor=actor, verb=Verb.DECIDE.value, refusal=refusal, draft_id=draft_id)
        raise
    return deciding.decide(actor=actor, clock=database_now, shown=shown, verdict=Verdict(verdict), comment=comment)


def _shown(request: HttpRequest, person_id: int) -> Shown:
    version, digest = _named(request)
    if version is None or not digest:
        raise StaleView()
    approval_id = approval_named(request)
    token = request.POST.get("view_token", "")
    shown_at = view_token.read(token, approval_id=approval_id, digest=digest, person_id=person_id)
    return Shown(approval_id, version, digest, shown_at)


def _named(request: HttpRequest) -> tuple[int | None, str]:
    return numbers.whole(request.POST.get("version", "")), request.POST.get("digest", "")


def approval_named(request: HttpRequest) -> UUID:
    """Gives the approval a form is about. Raises StaleView if it names none."""
    try:
        return UUID(request.POST.get("approval", ""))
    except ValueError as exc:
        raise StaleView() from exc


def insist_on(draft_id: int, approval_id: UUID) -> None:
    """Refuses a form whose approval belongs to another draft than its address."""
    if not Approval.objects.filter(pk=approval_id, draft_id=draft_id).exists():
        raise StaleView(draft_id=draft_id)


def _label(verdict: str) -> str:
    return PRESSED[Verdict(verdict)] if verdict in PRESSED else "a button"


def _said(decided: Decided) -> str:
    decision, draft = decided.decision, decided.draft
    what = f"{SAID[Verdict(decision.verdict)]} revision {decision.version} ({short(decision.digest)})."
    if not decided.recorded:
        at = words.moment(decision.decided_at, database_now(), seconds=True)
        return f"{what} That was recorded at {at} UTC already; nothing was counted twice."
    return f"{what} The item is now: {words.STATE_LABELS[draft.state].lower()}."
