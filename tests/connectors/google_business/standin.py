"""A stand-in for Google: the OAuth token endpoint, and the reviews part of the Business Profile API (v4).

It keeps to what Google documents: the reply of a review is an upsert, at most 4,096 bytes; a deleted review is
NOT_FOUND; errors are google.rpc.Status documents; a used-up quota is a 429 or a 403 that says so.
"""

import json
import secrets
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs, unquote

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from approvals.connectors.conformance import Asked, Behaviour, Reply, StandIn, Verb

ACCOUNT, LOCATION, REVIEW = "1042", "locations/77", "AbFvOqk-_3="
RESOURCE = f"{LOCATION}/reviews/{REVIEW}"
SCOPE = "https://www.googleapis.com/auth/business.manage"
MAX_COMMENT_BYTES = 4096
_STATUS_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    422: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def error(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    """Google's error document."""
    word = more.pop("word", _STATUS_WORDS[status])
    return Reply(status, {"error": {"code": status, "message": message, "status": word, **more}}, headers or {})


def quota(status: int = 429, **more: Any) -> Reply:
    return error(status, "Quota exceeded for quota metric 'Requests'.", word="RESOURCE_EXHAUSTED", **more)


class TokenEndpoint(StandIn):
    """`POST /token`: the grants `refresh_token` and `jwt-bearer` (RFC 6749 and 7523)."""

    def __init__(self) -> None:
        super().__init__()
        self.refresh_token = f"1//refresh-{secrets.token_hex(12)}"
        self.client_secret = f"GOCSPX-{secrets.token_hex(12)}"
        self.key = _key()
        self.issued: list[str] = []
        self.valid: set[str] = set()
        self.life_seconds: Any = 3599
        self.says: list[Reply] = []  # told instead, one after the other
        self.parrots = False  # whether it refuses and repeats all it was told

    @property
    def token_url(self) -> str:
        return f"{self.url}/token"

    @property
    def authorized_user(self) -> str:
        """The secret of a person who let our application in."""
        return json.dumps(
            {
                "type": "authorized_user",
                "client_id": "1234.apps.example",
                "client_secret": self.client_secret,
                "refresh_token": self.refresh_token,
                "universe_domain": "elsewhere.example",
            }
        )

    @property
    def service_account(self) -> str:
        """The key file of a service account."""
        private = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return json.dumps(
            {
                "type": "service_account",
                "client_email": "bot@project.example",
                "private_key_id": "k1",
                "private_key": private,
                "token_uri": "https://elsewhere.example/token",
            }
        )

    @property
    def markers(self) -> tuple[str, ...]:
        lines = json.loads(self.service_account)["private_key"].splitlines()[1:-1]
        signed = [parse_qs(asked.body.decode()).get("assertion", [""])[0] for asked in self.asked]
        return (self.refresh_token, self.client_secret, *self.issued, *lines, *filter(None, signed))

    def verb_of(self, asked: Asked) -> Verb | None:
        """All it does is one thing; the name of the verb is only for `behave`."""
        return Verb.SEND

    def answer(self, asked: Asked) -> Reply:
        if self.says:
            return self.says.pop(0)
        if (asked.method, asked.path) != ("POST", "/token"):
            return Reply(404, "not here")
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        if self.parrots:
            told = " ".join(form.values())
            return Reply(400, {"error": told, "error_description": told, "more": form}, {"X-Request-Id": told})
        refused = self._refused(form)
        if refused is not None:
            return refused
        token = f"ya29.{secrets.token_urlsafe(24)}"
        self.issued.append(token)
        self.valid.add(token)
        return Reply(200, {"access_token": token, "expires_in": self.life_seconds, "token_type": "Bearer"})

    def _refused(self, form: dict[str, str]) -> Reply | None:
        if form.get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer":
            return (
                None if self._has_signed(form["assertion"]) else oauth_error("invalid_grant", "Invalid JWT Signature.")
            )
        if form.get("grant_type") != "refresh_token":
            return oauth_error("unsupported_grant_type", "Invalid grant_type.")
        if form.get("client_secret") != self.client_secret:
            return oauth_error("invalid_client", "Unauthorized", 401)
        if form.get("refresh_token") != self.refresh_token:
            return oauth_error("invalid_grant", "Token has been expired or revoked.")
        return None

    def _has_signed(self, assertion: str) -> bool:
        public = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        try:
            claims = jwt.decode(assertion, RSAKey.import_key(public), algorithms=["RS256"]).claims
        except (JoseError, ValueError):
            return False
        now = datetime.now(UTC).timestamp()
        return (
            claims["iss"] == "bot@project.example"
            and claims["aud"] == "https://oauth2.googleapis.com/token"
            and claims["scope"] == SCOPE
            and claims["iat"] <= now + 1 < claims["exp"] <= now + 3700
        )


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def oauth_error(word: str, description: str, status: int = 400) -> Reply:
    return Reply(status, {"error": word, "error_description": description})


class Storefront(StandIn):
    """One review of one location, which may get a reply."""

    def __init__(self, tokens: TokenEndpoint) -> None:
        super().__init__()
        self.tokens = tokens
        self.has_review = True
        self.reply: dict[str, Any] | None = None
        self.effects = 0  # how often the text that stands there became another one by a PUT
        self.trims = False  # whether it takes blanks off the ends, and CR from line ends
        self.moderation = ""  # the state a new reply gets
        self.says: dict[Verb, list[Reply]] = {}  # told instead, one after the other
        self._locked_out: set[Verb] = set()

    @property
    def base_url(self) -> str:
        return f"{self.url}/v4"

    @property
    def name(self) -> str:
        return f"accounts/{ACCOUNT}/{RESOURCE}"

    def write(self, comment: str, at: datetime | None = None) -> dict[str, Any]:
        """Put a reply there, as the API does, or somebody in their browser."""
        if self.trims:
            comment = comment.replace("\r\n", "\n").strip()
        moment = (at or datetime.now(UTC)).isoformat().replace("+00:00", "Z")
        self.reply = {"comment": comment, "updateTime": moment}
        if self.moderation:
            self.reply["reviewReplyState"] = self.moderation
        return self.reply

    def verb_of(self, asked: Asked) -> Verb | None:
        """All reading is one call, so it counts as one verb here."""
        return {"PUT": Verb.SEND, "DELETE": Verb.RETRACT, "GET": Verb.READ}.get(asked.method)

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        verb = verb if verb in (Verb.SEND, Verb.RETRACT) else Verb.READ
        if behaviour is Behaviour.LOCK_OUT:
            self._locked_out.add(verb)  # whoever is locked out is no better off with the next token
        else:
            super().behave(verb, behaviour)

    def refusal(self, status: int, text: str) -> Reply:
        return error(status, text, {"Retry-After": "7"} if status == 429 else {})

    def answer(self, asked: Asked) -> Reply:
        verb = self.verb_of(asked)
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if verb in self._locked_out or token not in self.tokens.valid:
            return error(401, "Request had invalid authentication credentials.")
        if verb and self.says.get(verb):
            return self.says[verb].pop(0)
        wanted = f"/v4/{self.name}" + ("" if asked.method == "GET" else "/reply")
        if unquote(asked.path) != wanted or not self.has_review:
            return error(404, "Requested entity was not found.")
        return {"PUT": self._put, "DELETE": self._delete, "GET": self._get}[asked.method](asked)

    def _put(self, asked: Asked) -> Reply:
        document = json.loads(asked.body)
        if set(document) - {"comment", "updateTime"}:
            return error(400, "Invalid JSON payload received. Unknown name.")
        if not document.get("comment") or len(document["comment"].encode()) > MAX_COMMENT_BYTES:
            return error(400, "Request contains an invalid argument.")
        before = self.reply and self.reply["comment"]
        written = self.write(document["comment"])
        self.effects += written["comment"] != before
        return Reply(200, written)

    def _delete(self, _asked: Asked) -> Reply:
        if self.reply is None:
            return error(404, "Requested entity was not found.")
        self.reply = None
        return Reply(200, {})

    def _get(self, _asked: Asked) -> Reply:
        review = {
            "name": self.name,
            "reviewId": REVIEW,
            "reviewer": {"displayName": "Dee"},
            "starRating": "TWO",
            "comment": "The lift was stuck.",
            "createTime": "2026-11-01T10:00:00.123456789Z",
            "updateTime": "2026-11-01T10:00:00.123456789Z",
        }
        return Reply(200, review | ({"reviewReply": self.reply} if self.reply else {}))


def main() -> None:
    """Serve until standard input ends; prints where, and with which secret."""
    with TokenEndpoint() as tokens, Storefront(tokens) as storefront:
        told = {"base_url": storefront.base_url, "token_url": tokens.token_url, "secret": tokens.authorized_user}
        sys.stdout.write(json.dumps(told | {"hosts": f"{storefront.host},{tokens.host}"}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
