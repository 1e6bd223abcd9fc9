"""What `make run` prints when everything is up."""

from django.conf import settings
from django.urls import reverse

from reviewroom.demo.loading import waiting_for

TEXT = """
  Review Room is running.

    pages      {pages}
    tracker    {tracker}   (anybody may look)

    log in as  ada    proposes             the password of all of them is {password}
               ben    reviews
               cleo   reviews
               max    operates, and has the admin at {pages}/admin/

  What to click first
    1. Log in as ben at {pages}
    2. {first}
    3. Ten seconds later it is sent, read back, and stands as a ticket at {tracker}

  Ctrl-C stops everything; the data stays in var/ for the next `make run`.
"""


def welcome(web_port: int, tracker_port: int) -> str:
    """The text with this start's addresses and the item that waits for ben now."""
    pages = f"http://127.0.0.1:{web_port}"
    return TEXT.format(
        pages=pages,
        tracker=f"http://127.0.0.1:{tracker_port}/",
        password=settings.REVIEWROOM_DEMO_PASSWORD,
        first=_first_click(pages),
    )


def _first_click(pages: str) -> str:
    waiting = [draft for draft in waiting_for("ben") if draft.room.slug == "facilities"]
    if not waiting:
        return f"Nothing waits for ben any more: propose a ticket as ada at {pages}/drafts/new, approve it as ben."
    draft = waiting[0]
    address = pages + reverse("draft", args=[draft.pk])
    return f"Open {draft.reference} “{draft.title}” ({address}), read it, press Approve."
