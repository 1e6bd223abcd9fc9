"""Recording what a person found at the remote: a page of its own, for operators who did not write the draft."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals.domain.errors import Forbidden, NotEligible, NotFound, Refusal
from approvals.models import Delivery
from approvals.models.clock import database_now
from approvals.permissions import Verb, require
from approvals.services import resolve as resolving
from approvals.services.idempotency import Replay
from approvals.services.resolve import Finding
from approvals.web import kept, once, respond
from approvals.web.access import actor_of, private
from approvals.web.pages import resolve as pages
from approvals.web.pages.conflict import Pressed
from approvals.web.pages.resolve import Written
from approvals.web.views import answers

CONTROLS = ("outcome", "evidence", "remote_id")


@require_http_methods(["GET", "HEAD", "POST"])
@private
def resolve(request: HttpRequest, draft_id: int) -> HttpResponse:
    """The form, and what is posted by it."""
    reader = answers.reader_of(request, draft_id)
    if request.method == "POST":
        return _record(request, draft_id)
    require(reader.actor, Verb.RESOLVE, draft=reader.draft)
    shown = pages.page(reader, Written(evidence=kept.of_draft(request, draft_id)))
    if shown is None:
        messages.info(request, f"The outcome of {reader.draft.reference} is settled; there is nothing to record.")
        return HttpResponseRedirect(reverse("draft", args=[draft_id]))
    return respond.page(request, "resolve.html", {"page": shown}, current=reader.draft.room.slug)


def _record(request: HttpRequest, draft_id: int) -> HttpResponse:
    written = _posted(request)
    try:
        draft = resolving.resolve(
            actor=actor_of(request),
            clock=database_now,
            delivery_id=_delivery_named(request, draft_id),
            finding=Finding(written.outcome, written.evidence, written.remote_id),
            key=once.key_of(request),
        )
    except Replay:
        return HttpResponseRedirect(reverse("draft", args=[draft_id]))
    except (NotFound, Forbidden):
        raise
    except Refusal as refusal:
        return _refused(request, draft_id, written, refusal)
    kept.forget(request, draft_id)
    messages.success(request, "It is recorded, with your name and your evidence.")
    return HttpResponseRedirect(reverse("draft", args=[draft.pk]))


def _refused(request: HttpRequest, draft_id: int, written: Written, refusal: Refusal) -> HttpResponse:
    """Shows the form again with what was typed; where there is nothing to record any more, the conflict."""
    if isinstance(refusal, NotEligible) and refusal.reason != "author":
        raise refusal
    reader, status = answers.reader_of(request, draft_id), respond.status_of(refusal)
    name = (refusal.pointer or "").lstrip("/")
    faults = ((name, str(refusal)),) if name in CONTROLS else ()
    fault = "Look at the field that is marked." if faults else str(refusal)
    again = Written(written.outcome, written.evidence, written.remote_id, fault, faults)
    shown = pages.page(reader, again)
    if shown is None:
        return answers.refused(request, draft_id, refusal, Pressed("Record it", comment=written.evidence))
    return respond.page(request, "resolve.html", {"page": shown}, current=reader.draft.room.slug, status=status)


def _posted(request: HttpRequest) -> Written:
    return Written(
        outcome=request.POST.get("outcome", ""),
        evidence=kept.clean(request.POST.get("evidence", "")),
        remote_id=request.POST.get("remote_id", ""),
    )


def _delivery_named(request: HttpRequest, draft_id: int) -> UUID:
    """Gives the delivery a form is about. Raises NotFound for one of another draft, or none."""
    try:
        delivery_id = UUID(request.POST.get("delivery", ""))
    except ValueError as exc:
        raise NotFound() from exc
    if not Delivery.objects.filter(pk=delivery_id, draft_id=draft_id).exists():
        raise NotFound()
    return delivery_id
