"""One draft: its page, the parts that load themselves again, its exact bytes."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HTMX_STOP_POLLING

from approvals.domain.states import DraftState
from approvals.selectors import queue as reads
from approvals.web import kept
from approvals.web.access import actor_of, is_htmx, private, uncached
from approvals.web.pages import standing as targets
from approvals.web.pages import tabs
from approvals.web.pages.draft import Typed
from approvals.web.pages.reader import Reader
from approvals.web.views import decisions
from approvals.web.views.answers import next_of, reader_of, show


@require_http_methods(["GET", "HEAD", "POST"])
@private
def draft(request: HttpRequest, draft_id: int) -> HttpResponse:
    """The item's page; a decision is posted to its own address."""
    if request.method == "POST":
        return decisions.decide(request, draft_id)
    reader = reader_of(request, draft_id)
    done = " ".join(str(message) for message in messages.get_messages(request))
    typed = Typed(
        comment=kept.of_draft(request, draft_id),
        opened=request.GET.get("open", ""),
        done=done,
        next=next_of(reader) if done else None,
    )
    return show(request, reader, typed)


@require_safe
@private
def delivery(request: HttpRequest, draft_id: int) -> HttpResponse:
    """The delivery as a fragment, asked for while something moves; the whole item once its state has changed."""
    reader = reader_of(request, draft_id)
    if not is_htmx(request) or reader.draft.state not in tabs.AFTER_APPROVAL:
        return HttpResponseRedirect(reverse("draft", args=[draft_id]))
    if request.GET.get("seen") != tabs.seen(reader):
        return show(request, reader, Typed())
    moving = tabs.moving(reader)
    is_newer = request.GET.get("attempts") != moving.attempts_mark
    return render(request, "_delivery.html", {"delivery": moving, "with_attempts": is_newer})


@require_safe
@private
def standing(request: HttpRequest, draft_id: int) -> HttpResponse:
    """What stands at the target as a fragment, asked for while a worker is about to read it."""
    shown = targets.card(reader_of(request, draft_id))
    if not is_htmx(request) or shown is None:
        return HttpResponseRedirect(reverse("draft", args=[draft_id]))
    return render(request, "_standing.html", {"standing": shown})


@require_safe
def news(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Says that an open item has changed, without touching what is being read or typed."""
    if not request.user.is_authenticated:
        return uncached(render(request, "_signed_out.html", status=HTMX_STOP_POLLING))
    found = reads.draft_for(actor_of(request), draft_id)
    if request.GET.get("seq") == str(found.seq):
        return uncached(HttpResponse(status=204))
    is_stale = request.GET.get("version") != str(found.version) or found.state != DraftState.IN_REVIEW
    context = {"draft": found, "is_stale": is_stale, "is_newer": request.GET.get("version") != str(found.version)}
    return uncached(render(request, "_news.html", context, status=HTMX_STOP_POLLING))


@require_safe
@private
def canonical(request: HttpRequest, draft_id: int, number: int) -> HttpResponse:
    """The exact bytes of one revision, to be hashed by whoever trusts nobody."""
    reader = reader_of(request, draft_id)
    revision = reader.draft.revisions.filter(number=number).first()
    if revision is None:
        raise Http404
    name = f"{reader.draft.reference.lower()}-r{number}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(bytes(revision.canonical), content_type="application/octet-stream", headers=headers)


@require_POST
@private
def keep_comment(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Takes a comment from a conflict page along to what is current. Decides nothing."""
    reader = reader_of(request, draft_id)
    kept.keep(request, draft_id, kept.clean(request.POST.get("comment", "")))
    return HttpResponseRedirect(f"{reverse('draft', args=[draft_id])}?{urlencode({'tab': _first_tab(reader)})}#item")


def _first_tab(reader: Reader) -> str:
    return tabs.CONTENT if reader.can_decide else ""
