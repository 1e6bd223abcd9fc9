"""What `make run` prints when everything is up."""

from django.conf import settings

TEXT = """
  Review Room is running.

    pages      http://127.0.0.1:{web}
    tracker    http://127.0.0.1:{tracker}   (anybody may look)

    log in as  ada    proposes tickets             password for all of them: {password}
               ben    reviews
               cleo   reviews
               max    operates, and has the admin at http://127.0.0.1:{web}/admin/

  What to click first
    1. Log in as ben. The inbox shows the ticket that waits for you. Open it, read it, press Approve.
    2. Where two people must agree, do the same as cleo (a private window saves logging out).
    3. Ten seconds later the ticket stands in the tracker, and its page says Confirmed.

  Ctrl-C stops everything; the data stays in var/ for the next `make run`.
"""


def welcome(web_port: int, tracker_port: int) -> str:
    """The text with this start's addresses."""
    return TEXT.format(
        web=web_port,
        tracker=tracker_port,
        password=settings.REVIEWROOM_DEMO_PASSWORD,
    )
