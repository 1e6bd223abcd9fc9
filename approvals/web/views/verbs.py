"""The other verbs of a draft, each one post: submit, withdraw, revoke, send now."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, Refusal
from approvals.models import Draft
from approvals.models.clock import database_now
from approvals.services import dispatch as dispatching
from approvals.services import revise
from approvals.services import revoke as revoking
from approvals.web import kept, numbers, respond
from approvals.web.access import actor_of, private
from approvals.web.pages.conflict import Pressed
from approvals.web.pages.draft import Typed
from approvals.web.views import answers
from approvals.web.views.decisions import approval_named, insist_on

Call = Callable[[Actor], Draft]


@require_POST
@private
def submit(request: HttpRequest, draft_id: int) -> HttpResponse:
    named = numbers.whole(request.POST.get("version", "")) or 0

    def call(actor: Actor) -> Draft:
        return revise.submit(actor=actor, clock=database_now, draft_id=draft_id, version=named)

    return _carry_out(request, draft_id, "submit", call, "It is in review now.")


@require_POST
@private
def withdraw(request: HttpRequest, draft_id: int) -> HttpResponse:
    reason = _reason(request)

    def call(actor: Actor) -> Draft:
        return revoking.withdraw(actor=actor, clock=database_now, draft_id=draft_id, reason=reason)

    return _carry_out(request, draft_id, "withdraw", call, "It is withdrawn. Nothing was sent.")


@require_POST
@private
def revoke(request: HttpRequest, draft_id: int) -> HttpResponse:
    reason = _reason(request)

    def call(actor: Actor) -> Draft:
        approval_id = approval_named(request)
        insist_on(draft_id, approval_id)
        return revoking.revoke(actor=actor, clock=database_now, approval_id=approval_id, reason=reason)

    return _carry_out(request, draft_id, "revoke", call, "The approval is revoked. Nothing was sent.")


@require_POST
@private
def dispatch(request: HttpRequest, draft_id: int) -> HttpResponse:
    def call(actor: Actor) -> Draft:
        return dispatching.dispatch(actor=actor, clock=database_now, draft_id=draft_id)

    return _carry_out(request, draft_id, "dispatch", call, "A worker sends it now.")


def _carry_out(request: HttpRequest, draft_id: int, verb: str, call: Call, told: str) -> HttpResponse:
    """Calls the one service of a verb and answers; a typed reason comes back with whatever is wrong with it."""
    reason = _reason(request)
    try:
        draft = call(actor_of(request))
    except InvalidPayload as refusal:
        typed = Typed(action=(verb, str(refusal), reason))
        return answers.again(request, draft_id, typed, status=respond.status_of(refusal))
    except Refusal as refusal:
        return answers.refused(request, draft_id, refusal, Pressed(verb.capitalize(), comment=reason))
    return answers.done(request, draft, told)


def _reason(request: HttpRequest) -> str:
    return kept.clean(request.POST.get("reason", ""))
