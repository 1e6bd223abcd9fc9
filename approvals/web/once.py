"""One form, posted twice as it is, has one effect: the key it carries is stored with what it did."""

import hashlib

from django.http import HttpRequest

from approvals.services.idempotency import Key
from approvals.web.access import actor_of

CSRF_FIELD = "csrfmiddlewaretoken"


def key_of(request: HttpRequest) -> Key | None:
    """Gives the key of a posted form, if it carries one. Other words in it are another request."""
    if not request.POST.get("once"):
        return None
    said = sorted((name, value) for name, values in request.POST.lists() for value in values if name != CSRF_FIELD)
    digest = hashlib.sha256(repr((request.path, said)).encode(errors="surrogatepass")).hexdigest()
    return Key(actor_of(request).person_id, f"form:{digest}", digest, status=302)
