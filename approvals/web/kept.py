"""Text that people typed and that must not be lost: kept in the session until it was sent or shown again.

A log-out keeps nothing. Log-in carries an anonymous session on, so a text typed into an expired page survives it.
"""

import re

from django.http import HttpRequest

KEPT_FIELDS = ("comment", "reason", "evidence")
TEXTS = frozenset({*KEPT_FIELDS, "title", "note", "resource", "payload", "remote_id", "not_before"})
MOST_CHARACTERS = 10_000
MOST_DRAFTS = 20
_DRAFT_PATH = re.compile(r"(/drafts/\d+/)")
_SESSION_KEY = "kept_comments"


def keep(request: HttpRequest, draft_id: int, text: str) -> None:
    """Keeps a comment on a draft; an empty one is forgotten."""
    comments = dict(request.session.get(_SESSION_KEY, {}))
    comments.pop(str(draft_id), None)
    if text:
        comments[str(draft_id)] = text[:MOST_CHARACTERS]
    request.session[_SESSION_KEY] = dict(list(comments.items())[-MOST_DRAFTS:])


def of_draft(request: HttpRequest, draft_id: int) -> str:
    """Gives the comment kept for a draft."""
    return str(request.session.get(_SESSION_KEY, {}).get(str(draft_id), ""))


def forget(request: HttpRequest, draft_id: int) -> None:
    if str(draft_id) in request.session.get(_SESSION_KEY, {}):
        keep(request, draft_id, "")


def keep_posted(request: HttpRequest) -> None:
    """Keeps what a post to a draft holds that cannot be carried out: its session or its form is over."""
    match = _DRAFT_PATH.match(request.path)
    text = typed(request)
    if request.method == "POST" and match and text:
        keep(request, int(match[1].split("/")[2]), text)


def typed(request: HttpRequest) -> str:
    """Gives the comment or reason in a post."""
    return next((clean(request.POST[name]) for name in KEPT_FIELDS if request.POST.get(name)), "")


def all_typed(request: HttpRequest) -> list[tuple[str, str]]:
    """Gives every text in a post with a word for it, to be copied by hand."""
    names = [name for name in request.POST if name in TEXTS or name.startswith("value:")]
    return [(name.removeprefix("value:"), clean(request.POST[name])) for name in names if request.POST[name]]


def clean(text: str) -> str:
    """Undoes what browsers do to line ends (CRLF), and nothing else."""
    return text.replace("\r\n", "\n")


def page_behind(path: str) -> str:
    """Gives the page whose form posts to this address."""
    match = _DRAFT_PATH.match(path)
    return match[1] if match else "/"
