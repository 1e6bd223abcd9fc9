"""`smtp`: e-mail. The Message-ID is the delivery id, and whatever is unknown needs a person.

The resource is the recipients: one address, or several with commas between them. They stand in the binding and on
every page, and nothing in a payload can add to them. Mail can neither be looked up nor read back nor undone, and no
server dedupes on the Message-ID, though some mailboxes do.
"""

import asyncio
from datetime import UTC
from email.utils import format_datetime
from uuid import UUID

from approvals.connectors import secrets
from approvals.connectors.base import (
    Capability,
    Connector,
    Deadline,
    Job,
    Lookup,
    Match,
    Outcome,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.secrets import SecretError
from approvals.connectors.smtp import channel, message, receipts
from approvals.connectors.smtp.dialogue import Dialogue, Envelope, Said
from approvals.connectors.smtp.log import Log
from approvals.connectors.smtp.wire import Reply
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

SENDER, RECIPIENT = "MAIL FROM", "RCPT TO"


class SmtpConnector(Connector):
    """See the package."""

    name = "smtp"
    config_schema = channel.CONFIG_SCHEMA
    operation_schema = channel.OPERATION_SCHEMA

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        return frozenset()

    def check(self, settings: Settings) -> None:
        channel.check(settings)
        self.outbound.check_url("/config/host", channel.url(settings, "https"))

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [("/config/host", channel.url(settings))]

    async def check_names(self, settings: Settings) -> None:
        await self.outbound.check_name("/config/host", channel.url(settings, "https"))

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        """The envelope as headers, the message as the body; it lacks only the Date."""
        try:
            to = message.recipients(binding.target.resource)
            message.check_allowed(to, settings.config.get("recipient_domains"))
        except ValueError as exc:
            raise InvalidPayload(str(exc), pointer="/resource") from exc
        envelope = ((SENDER, settings.config["sender"]), *((RECIPIENT, address) for address in to))
        body = message.compose(binding.payload, to, delivery_id, settings)
        return Request("SMTP", channel.url(settings), envelope, body, settings.secret)

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        log = Log()
        dialogue = Dialogue(log, deadline)
        try:
            reply = await self._dialogue(dialogue, job, deadline, log)
        except receipts.EXPECTED as exc:
            return receipts.of_error(exc, log.phase, log.evidence(job.request.url))
        finally:
            dialogue.hang_up()
        sent_as = message.message_id(job.delivery_id, job.settings)
        return receipts.of_reply(reply, sent_as, log.evidence(job.request.url))

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        return Lookup(Sighting.UNKNOWN, "A mail server cannot be asked for a message; its recipients can.")

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        return Verification(Match.IMPOSSIBLE, "Mail cannot be read back.")

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        return Receipt(Outcome.REFUSED, "Nothing was sent: mail cannot be taken back.")

    async def _dialogue(self, dialogue: Dialogue, job: Job, deadline: Deadline, log: Log) -> Reply:
        """The whole session. Only taking leave is outside of the time-out: by then the answer is known."""
        host, security = str(job.settings.config["host"]), channel.security(job.settings)
        user_and_password = self._login(job, security, log)
        try:
            async with asyncio.timeout(deadline.seconds):
                await dialogue.connect(self.outbound, host, channel.port(job.settings))
                await dialogue.greet(host, message.id_domain(job.settings), security)
                if user_and_password:
                    await dialogue.log_in(*user_and_password)
                reply = await dialogue.post(self._envelope(job))
        except Said:
            await dialogue.take_leave()
            raise
        await dialogue.take_leave()
        return reply

    def _login(self, job: Job, security: str, log: Log) -> tuple[str, str] | None:
        """User and password. Raises SecretError, before any connection is made."""
        if not job.request.secret:
            return None
        if security == "none":
            raise SecretError("The channel's connection is not secure, so its secret is not sent.")
        found = secrets.find(job.request.secret, job.request.url, self.outbound.environ)
        user, colon, password = found.value.partition(":")
        if not (user and colon and password):
            raise SecretError(f"{secrets.PREFIX}{found.name} has to be user:password.")
        log.hidden = (found,)
        return user, password

    def _envelope(self, job: Job) -> Envelope:
        """What was approved, and when its sending began: the same in every attempt, where that is known."""
        named = job.request.headers
        [sender] = [value for name, value in named if name == SENDER]
        moment = (job.begun_at or self.outbound.now()).astimezone(UTC)
        content = f"Date: {format_datetime(moment)}\r\n".encode("ascii") + job.request.body
        return Envelope(sender, tuple(value for name, value in named if name == RECIPIENT), content)
