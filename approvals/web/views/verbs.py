"""The verbs of a draft besides deciding, each one post: from submit to retract again."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, Refusal
from approvals.models import Draft
from approvals.models.clock import database_now
from approvals.services import cancel as cancelling
from approvals.services import dispatch as dispatching
from approvals.services import look_again as looking
from approvals.services import readings, revise
from approvals.services import retract as retracting
from approvals.services import retry as retrying
from approvals.services import revoke as revoking
from approvals.web import kept, numbers, respond
from approvals.web.access import actor_of, private
from approvals.web.pages.conflict import Pressed
from approvals.web.pages.draft import Typed
from approvals.web.views import answers
from approvals.web.views.decisions import approval_named, insist_on

Call = Callable[[Actor], Draft]
PRESSED = {"look_again": "Check the remote now", "read_target": "Read it again", "retry": "Try again"}
"""What the buttons say whose verb is another word."""


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


@require_POST
@private
def retract(request: HttpRequest, draft_id: int) -> HttpResponse:
    reason = _reason(request)

    def call(actor: Actor) -> Draft:
        return retracting.retract(actor=actor, clock=database_now, draft_id=draft_id, reason=reason)

    told = "It is being taken back. Until it is seen to be gone, take it to be public."
    return _carry_out(request, draft_id, "retract", call, told)


@require_POST
@private
def retry(request: HttpRequest, draft_id: int) -> HttpResponse:
    def call(actor: Actor) -> Draft:
        return retrying.retry(actor=actor, clock=database_now, draft_id=draft_id)

    return _carry_out(request, draft_id, "retry", call, "A worker tries it again within a few seconds.")


@require_POST
@private
def cancel(request: HttpRequest, draft_id: int) -> HttpResponse:
    reason = _reason(request)

    def call(actor: Actor) -> Draft:
        return cancelling.cancel(actor=actor, clock=database_now, draft_id=draft_id, reason=reason)

    return _carry_out(request, draft_id, "cancel", call, "It is cancelled. Nothing more of it leaves.")


@require_POST
@private
def look_again(request: HttpRequest, draft_id: int) -> HttpResponse:
    def call(actor: Actor) -> Draft:
        return looking.look_again(actor=actor, clock=database_now, draft_id=draft_id)

    return _carry_out(request, draft_id, "look_again", call, "A worker looks at the remote as soon as a look can tell.")


@require_POST
@private
def read_target(request: HttpRequest, draft_id: int) -> HttpResponse:
    def call(actor: Actor) -> Draft:
        return readings.ask_again(actor=actor, clock=database_now, draft_id=draft_id)

    return _carry_out(request, draft_id, "read_target", call, "A worker reads it again within a few seconds.")


def _carry_out(request: HttpRequest, draft_id: int, verb: str, call: Call, told: str) -> HttpResponse:
    """Calls the one service of a verb and answers; a typed reason comes back with whatever is wrong with it."""
    reason = _reason(request)
    try:
        draft = call(actor_of(request))
    except InvalidPayload as refusal:
        typed = Typed(action=(verb, str(refusal), reason))
        return answers.again(request, draft_id, typed, status=respond.status_of(refusal))
    except Refusal as refusal:
        return answers.refused(
            request, draft_id, refusal, Pressed(PRESSED.get(verb, verb.capitalize()), comment=reason)
        )
    return answers.done(request, draft, told)


def _reason(request: HttpRequest) -> str:
    return kept.clean(request.POST.get("reason", ""))
