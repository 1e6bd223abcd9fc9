"""Secrets show nowhere: not in the database, the logs, the audit, the outbox, a page, an answer or a command.

Each kind of secret goes its real way to a remote that repeats it in every answer, and fails in every way it can.
"""

import base64
import copy
import html
import json
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from approvals.domain.actor import system
from approvals.models import Attempt, Channel, Draft, Observation, OutboxEvent, TargetReading
from approvals.services import pause, readings, tokens
from approvals.services.retract import retract
from approvals.workers import dispatch, drain, reconcile
from tests.cast import CONFIG, Story
from tests.connectors.smtp.conftest import certificate, tls, trusted
from tests.connectors.smtp.servers import Scripted
from tests.flow import markers
from tests.flow.echo import ACCESS_TOKEN, FAILURES, Echo
from tests.flow.markers import Logs

__all__ = ["certificate", "tls", "trusted"]  # fixtures
pytestmark = pytest.mark.slow

ODD = '/+ü"&<\\'  # what encodings change
SIGNED_WITH = "MRKsigningkey55"
SIGNING = "whsec_" + base64.b64encode(SIGNED_WITH.encode()).decode()
HEADER = f"MRKheadertoken66{ODD.replace('ü', '%')}"
LOGIN = f"mailer:MRKpassword77 {ODD}"
GOOGLE = json.dumps(
    {
        "type": "authorized_user",
        "client_id": "an-id",
        "client_secret": "MRKclientsecret88/+",
        "refresh_token": "1//MRKrefreshtoken99-_",
    }
)
STEPS = [(mode, "ok") for mode in ("fail", "unauthorized", "refuse", "nonsense")] + [("ok", mode) for mode in FAILURES]
"""How the step before the write is answered (a token, a link), and how the write."""
ITEMS = {
    "send": {"method": "POST", "url": "{url}/items", "id_pointer": "/id"},
    "lookup": {"url": "{url}/items?operation_id={{delivery_id}}", "id_pointer": "/items/0/id"},
    "verify": {"url": "{url}/items/{{remote_id}}", "body_pointer": "/payload"},
    "retract": {"method": "DELETE", "url": "{url}/items/{{remote_id}}"},
}


@pytest.fixture
def logs() -> Iterator[Logs]:
    with Logs().kept() as kept:
        yield kept


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as started:
        yield started


@pytest.fixture
def room(story: Story, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., "Room"]:
    """Adds one channel to the cast's room, its secret in the environment."""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True

    def make(secret: str, hosts: str, **channel: Any) -> Room:
        monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SEALED", secret)
        monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SEALED_HOSTS", hosts)
        document = copy.deepcopy(CONFIG)
        document["rooms"][0]["channels"].append({"slug": "sealed", "secret": "SEALED", "account": "1", **channel})
        story.configure(document)
        return Room(story, next(iter(channel["operations"])), channel.get("resource_pattern", ""))

    return make


class Room:
    """Drafts for the channel under test, sent and looked at as workers do."""

    def __init__(self, story: Story, operation: str, pattern: str) -> None:
        self.story = story
        self.operation = operation
        self.pattern = pattern
        self.drafts: list[Draft] = []

    def send(self, **payload: Any) -> Draft:
        """Proposes, approves and sends one draft; a channel that paused goes on afterwards."""
        resource = self.pattern.replace("*", str(len(self.drafts) + 1)) or None
        draft = self.story.approved(
            channel="sealed", operation=self.operation, resource=resource, payload=payload, title="Sealed"
        )
        self.drafts.append(draft)
        self.work()
        return self.story.again(draft)

    def work(self) -> None:
        """Every beat of every worker, over a few hours."""
        for _ in range(3):
            dispatch.run(concurrency=1, clock=self.story.clock)
            reconcile.run(concurrency=1, clock=self.story.clock)
            self.story.clock.advance(hours=1)
        channel = Channel.objects.get(slug="sealed")
        if channel.paused_at:
            pause.resume_channel(actor=self.story.actor("max"), clock=self.story.clock, channel=channel)

    def everything(self, logs: Logs) -> Iterator[tuple[str, str]]:
        """All that is kept and all that is said."""
        yield from markers.database()
        yield from logs.places()
        yield from everything_said(self.story, self.drafts)
        yield from logs.places()  # what looking has logged


def everything_said(story: Story, drafts: list[Draft]) -> Iterator[tuple[str, str]]:
    """Every page an operator who is also superuser can reach, a reviewer's view of it, the API and the commands."""
    ben, max_ = (Client(raise_request_exception=False) for _ in range(2))  # a broken page may not leak either
    ben.force_login(story.user["ben"])
    yield from markers.pages(ben, *(f"/drafts/{draft.pk}/" for draft in drafts))
    boss = story.user["max"]
    boss.is_staff = boss.is_superuser = True
    boss.save()
    max_.force_login(boss)
    yield from markers.pages(max_, "/", "/ops/", "/audit/", most=40)
    tabs = ("bytes", "history", "delivery")
    yield from markers.pages(max_, *(f"/drafts/{draft.pk}/?tab={tab}" for draft in drafts for tab in tabs))
    yield from markers.pages(max_, "/admin/", most=60)
    yield from markers.api(max_, token_of(story, "max"), api_addresses(drafts))
    yield from markers.commands(draft.reference for draft in drafts)


def api_addresses(drafts: list[Draft]) -> Iterator[str]:
    yield from ("/v1/me", "/v1/rooms", "/v1/rooms/facilities/channels", "/v1/drafts", "/v1/events")
    for draft in drafts:
        base = f"/v1/drafts/{draft.pk}"
        yield from (base, f"{base}/events", f"{base}/revisions/1", f"{base}/revisions/1/canonical")
        yield from (f"/v1/approvals/{draft.approval_id}", f"/v1/approvals/{draft.approval_id}/claim")


def token_of(story: Story, name: str, scopes: str = "introspect") -> str:
    actor = system("create_token", via="command")
    return tokens.create(actor=actor, clock=story.clock, username=name, scopes=scopes.split())


def assert_hidden(secrets: list[str], room: Room, logs: Logs, *, repeated: bool = True) -> None:
    kept = [
        *Attempt.objects.values_list("evidence", flat=True),
        *Observation.objects.values_list("evidence", flat=True),
    ]
    told = sum("[redacted]" in json.dumps(one) for one in kept)
    assert (told >= 3) == repeated, "what the remote repeated did not come this far"
    assert "\n".join(markers.hits(secrets, room.everything(logs))) == ""


def test_what_the_search_looks_for_is_what_leaks_look_like() -> None:
    secret = "x:MRKlookforme01"
    leaks = {
        "raw": secret,
        "percent": "x%3AMRKlookforme01",
        "basic": base64.b64encode(secret.encode()).decode(),
        "plain": base64.b64encode(f"\0{secret}".encode()).decode(),
        "html": html.escape(f'"{secret}"'),
    }
    assert [hit.partition(":")[0] for hit in markers.hits([secret], leaks.items())] == sorted(leaks)
    assert markers.hits([secret], [("clean", "MRKlookfor me01")]) == []


@pytest.mark.parametrize("kind", ["signed", "header", "basic"])
def test_the_secret_of_an_http_channel_shows_nowhere(room: Any, echo: Echo, logs: Logs, kind: str) -> None:
    secret, auth = {
        "signed": (SIGNING, {}),
        "header": (HEADER, {"auth": {"header": "X-Api-Key"}}),
        "basic": (LOGIN, {"auth": {"header": "Authorization", "prefix": "Basic ", "base64": True}}),
    }[kind]
    parts = {name: {key: value.format(url=echo.url) for key, value in part.items()} for name, part in ITEMS.items()}
    made = room(
        secret, echo.host, connector="http", resource_pattern="items/*", config=auth, operations={"item.create": parts}
    )
    for mode in FAILURES:
        echo.mode = mode
        made.send(name=f"One, {mode}")
    echo.mode = "ok"
    draft = made.send(name="The last")
    retract(actor=made.story.actor("max"), clock=made.story.clock, draft_id=draft.pk, reason="Wrong")
    echo.mode = "fail"
    made.work()
    readings.ask_again(actor=made.story.actor("ben"), clock=made.story.clock, draft_id=draft.pk)
    echo.mode = "ok"
    made.work()
    assert TargetReading.objects.get(target=draft.target).content
    if kind == "signed":  # only a signature leaves, which is no secret
        assert_hidden([SIGNED_WITH], made, logs, repeated=False)
    else:
        assert_hidden([secret], made, logs)


def test_the_log_in_of_a_tracker_shows_nowhere(room: Any, echo: Echo, logs: Logs) -> None:
    config = {"base_url": f"{echo.url}/rest/data", "properties": {"summary": "title"}}
    options = {"connector": "roundup", "resource": "issue", "concurrency": "append", "config": config}
    made = room(LOGIN, echo.host, operations={"ticket.create": {}}, **options)
    for first, mode in STEPS:
        echo.first, echo.mode = first, mode
        made.send(summary=f"One, {first} and {mode}")
    echo.first = echo.mode = "ok"
    made.send(summary="The last")
    assert_hidden([LOGIN], made, logs)


def test_the_credentials_for_a_storefront_show_nowhere(room: Any, echo: Echo, logs: Logs) -> None:
    config = {"base_url": f"{echo.url}/v4", "token_url": f"{echo.url}/token"}
    options = {"connector": "google_business", "resource_pattern": "locations/*/reviews/*", "config": config}
    made = room(GOOGLE, echo.host, operations={"reply.upsert": {}}, **options)
    for first, mode in STEPS:
        echo.first, echo.mode = first, mode
        made.send(comment=f"Thanks, {first} and {mode}")
    echo.first = echo.mode = "ok"
    draft = made.send(comment="The last")
    readings.ask_again(actor=made.story.actor("ben"), clock=made.story.clock, draft_id=draft.pk)
    made.work()
    assert any(ACCESS_TOKEN in told for told in echo.got)
    assert_hidden([GOOGLE, ACCESS_TOKEN], made, logs)


@pytest.mark.usefixtures("trusted")
def test_the_log_in_of_a_mail_server_shows_nowhere(room: Any, logs: Logs, tls: ssl.SSLContext) -> None:
    password = LOGIN.partition(":")[2]
    spellings = [LOGIN, password, *(base64.b64encode(text.encode()).decode() for text in (password, LOGIN))]
    spellings.append(base64.b64encode(f"\0mailer\0{password}".encode()).decode())
    said = "".join(f"%d-you said {spelling}\r\n" for spelling in spellings) + "%d end\r\n"
    healthy = {"AUTH": 235, "MAIL": 250, "RCPT": 250, "DATA": 354, "dot": 250}
    steps = {name: said.replace("%d", str(code)).encode() for name, code in healthy.items()}
    offers = [b"250-mail.test\r\n250 STARTTLS\r\n", b"250-mail.test\r\n250 AUTH PLAIN LOGIN\r\n"]
    with Scripted(tls=tls, EHLO=_in_turn(offers), **steps) as server:  # type: ignore[arg-type]
        config = {"host": "127.0.0.1", "port": server.port, "sender": "room@example.org"}
        options = {"connector": "smtp", "resource": "ada@example.org", "concurrency": "append", "config": config}
        made = room(LOGIN, f"127.0.0.1:{server.port}", operations={"mail.send": {}}, **options)
        for step, code in [(step, code) for step in healthy for code in (550, 299)]:
            server.steps[step] = [said.replace("%d", str(code)).encode(), steps[step]]
            made.send(subject=f"{code} to {step}", text="Hello")
        made.send(subject="All is well", text="Hello")
        assert any(spellings[-1] in line for line in server.heard)
    assert_hidden([LOGIN], made, logs)


def _in_turn(replies: list[bytes]) -> Any:
    """A step that gives its replies over and over."""
    count = iter(range(10_000))
    return lambda connection, _stopped: connection.sendall(replies[next(count) % len(replies)])


def test_the_token_of_the_audit_sink_shows_nowhere(story: Story, settings: Any, echo: Echo, logs: Logs) -> None:
    token, key = "MRKaudittoken22/+%", "MRKinthequery33"
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    settings.REVIEWROOM_AUDIT_SINK = f"{echo.url}/events?key={key}"
    settings.REVIEWROOM_AUDIT_TOKEN = token
    drafts = []
    taken = ("ok", "nonsense", "id", "cut")  # 2xx: first, or they would clear what the others left
    for mode in (*taken, *(mode for mode in FAILURES if mode not in taken)):
        drafts.append(story.approved(payload={"summary": mode}))
        echo.mode = mode
        drain.run(concurrency=1, clock=story.clock)
        story.clock.advance(hours=2)
    assert any(token in told and key in told for told in echo.got)
    assert OutboxEvent.objects.exclude(last_error="").exists()
    found = [*markers.database(), *logs.places(), *everything_said(story, drafts), *logs.places()]
    assert markers.hits([token, key], found) == []


def test_bearer_tokens_show_nowhere(story: Story, client: Client, logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(tokens.secrets, "token_urlsafe", lambda *_: "MRKbearertoken44")
        token, wrong = token_of(story, "ada", "propose"), "MRKnosuchtoken45"
    assert "MRKbearertoken44" in token
    body = json.dumps({"room": "facilities", "channel": "tickets", "operation": "ticket.create", "payload": {"a": 1}})
    answers = []
    for held in (token, wrong):
        bearer = {"Authorization": f"Bearer {held}"}
        shapes = (bearer, {"Authorization": held}, {"Authorization": f"Basic {held}"}, {"X-Api-Key": held})
        asked = ("/v1/me", "/v1/drafts/99999", f"/v1/drafts?token={held}", f"/v1/nowhere?access_token={held}")
        answers += [client.get(address, headers=headers) for address in asked for headers in shapes]
        answers += [client.get(f"{page}?token={held}") for page in ("/", "/drafts/1/", "/nowhere", "/admin/")]
        keyed = {**bearer, "Idempotency-Key": "one"}
        answers += [client.post("/v1/drafts", body, content_type="application/json", headers=keyed) for _ in range(2)]
    said = [(f"answer {number}", answer.content.decode()) for number, answer in enumerate(answers)]
    drafts = list(Draft.objects.all())
    found = [*markers.database(), *logs.places(), *said, *everything_said(story, drafts), *logs.places()]
    assert {answer.status_code for answer in answers} >= {200, 401, 404, 422}
    assert markers.hits([token, wrong], found) == []


def test_passwords_show_nowhere(story: Story, client: Client, logs: Logs) -> None:
    right, wrong, misplaced = "MRKrightpassword11", "MRKwrongpassword12", "MRKtypedintoname13"
    ben = story.user["ben"]
    ben.set_password(right)
    ben.is_staff = True
    ben.save()
    answers = []
    for address in ("/accounts/login/", "/admin/login/"):
        for name, password in (("ben", wrong), ("nobody", wrong), (misplaced, "x"), ("ben", right)):
            answers.append(Client().post(f"{address}?password={password}", {"username": name, "password": password}))
    said = [(f"answer {number}", str(dict(answer.headers))) for number, answer in enumerate(answers)]
    found = [*markers.database(), *logs.places(), *said, *everything_said(story, []), *logs.places()]
    assert markers.hits([right, wrong, misplaced], found) == []
