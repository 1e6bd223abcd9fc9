"""The public keys with which approval claims are verified."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from approvals.api import problems
from approvals.domain.errors import Refusal
from approvals.services import signing

FRESH_FOR = "public, max-age=300"


def jwks(request: HttpRequest) -> HttpResponse:
    """Answers the JWK set, to anybody."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    try:
        found = signing.public_keys()
    except Refusal as refusal:
        return problems.of_refusal(request, refusal)
    return JsonResponse(found, content_type="application/jwk-set+json", headers={"Cache-Control": FRESH_FOR})
