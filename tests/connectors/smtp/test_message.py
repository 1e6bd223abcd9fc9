"""What leaves is what was approved: one message, byte for byte, and no way to add to it."""

import json
from email import message_from_bytes, policy
from email.message import EmailMessage
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.connectors.smtp import message
from approvals.domain.errors import InvalidPayload
from tests.connectors.smtp.conftest import PAYLOAD, mail_job, mail_settings

CONTROLS = [*map(chr, range(32)), *map(chr, range(127, 160)), "\u2028", "\u2029"]
ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS), min_size=1, max_size=120)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=400)


def parsed(job) -> EmailMessage:
    return message_from_bytes(job.request.body, policy=policy.SMTP)  # type: ignore[return-value]


def content_of(job) -> str:
    return parsed(job).get_content().replace("\r\n", "\n")


def refused(resource="ada@example.org", config=None, **payload) -> InvalidPayload:
    with pytest.raises(InvalidPayload) as caught:
        mail_job(mail_settings(**(config or {})), resource=resource, **payload)
    return caught.value


def test_the_bytes_are_these():
    job = mail_job(mail_settings(sender_name="Review Room"), subject="Grüße", text="1 = 1 \n.\nend")
    assert job.request.method == "SMTP"
    assert job.request.url == "smtp://127.0.0.1:587"
    assert job.request.headers == (("MAIL FROM", "room@example.org"), ("RCPT TO", "ada@example.org"))
    assert job.request.body.decode() == (
        "From: Review Room <room@example.org>\r\n"
        "To: ada@example.org\r\n"
        "Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n"
        "Message-ID: <0f1c9c3e-5d5e-5b06-9d25-6f3a2d1f7a10@example.org>\r\n"
        "MIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n"
        "\r\n"
        "1 =3D 1=20\r\n"
        "=2E\r\n"
        "end\r\n"
    )


@given(ONE_LINE.filter(str.strip))
def test_a_reader_gets_back_the_very_subject(subject):
    job = mail_job(mail_settings(), subject=subject)
    assert str(parsed(job)["subject"]) == subject


@given(TEXT)
def test_a_reader_gets_back_the_very_text(text):
    found = content_of(mail_job(mail_settings(), text=text))
    assert found == (text if text.endswith("\n") else text + "\n")


@given(ONE_LINE.filter(str.strip), TEXT)
def test_every_line_is_short_plain_ascii(subject, text):
    for line in mail_job(mail_settings(), subject=subject, text=text).request.body.split(b"\r\n"):
        assert len(line) <= 78
        assert line.isascii()
        assert b"\r" not in line + b""
        assert b"\n" not in line


def test_what_looks_like_an_encoded_word_is_not_decoded_into_something_else():
    subject = "=?utf-8?b?SGFoYQ==?="
    assert str(parsed(mail_job(mail_settings(), subject=subject))["subject"]) == subject


def test_both_line_ends_are_one_on_the_wire():
    unix, dos = (mail_job(mail_settings(), text=text).request.body for text in ("a\nb\n", "a\r\nb\r\n"))
    assert unix == dos


def test_the_recipients_are_in_envelope_and_header():
    job = mail_job(mail_settings(), resource="ada@example.org,ben@example.net")
    assert [value for name, value in job.request.headers if name == "RCPT TO"] == ["ada@example.org", "ben@example.net"]
    assert parsed(job)["to"] == "ada@example.org, ben@example.net"


def test_many_recipients_are_folded():
    names = [f"person.number.{number}@department.example.org" for number in range(10)]
    job = mail_job(mail_settings(), resource=", ".join(names))
    assert [address.addr_spec for address in parsed(job)["to"].addresses] == names
    assert max(map(len, job.request.body.split(b"\r\n"))) <= 78


def test_the_name_of_the_sender_may_be_any():
    job = mail_job(mail_settings(sender_name='Prüfraum "eins" <x@evil.example>'))
    [address] = parsed(job)["from"].addresses
    assert (address.display_name, address.addr_spec) == ('Prüfraum "eins" <x@evil.example>', "room@example.org")


def test_the_message_id_takes_the_configured_domain():
    job = mail_job(mail_settings(domain="mail.example.com"))
    assert parsed(job)["message-id"] == f"<{job.delivery_id}@mail.example.com>"


@pytest.mark.parametrize("change", ["delivery", "subject", "text", "recipient", "sender"])
def test_each_part_changes_the_digest(change):
    one = mail_job(mail_settings())
    other = {
        "subject": lambda: mail_job(mail_settings(), subject="Another"),
        "text": lambda: mail_job(mail_settings(), text="Another"),
        "recipient": lambda: mail_job(mail_settings(), resource="ben@example.org"),
        "sender": lambda: mail_job(mail_settings(sender="desk@example.org")),
    }
    if change == "delivery":
        to, settings = ["ada@example.org"], mail_settings()
        assert message.compose(PAYLOAD, to, UUID(int=1), settings) != one.request.body
    else:
        assert other[change]().request.digest != one.request.digest


@pytest.mark.parametrize("end", ["\r\nBcc: x@evil.example", "\n", "\r", "\t", "\x00", "\x1b[2J", "\x85", "\u2028"])
@pytest.mark.parametrize("place", ["subject", "header"])
def test_a_header_holds_one_line(place, end):
    payload = {"subject": {"subject": f"a{end}b"}, "header": {"headers": {"X-Ticket": f"a{end}b"}}}[place]
    if end == "\x00":
        payload = json.loads(json.dumps(payload).replace("\\u0000", "\\u0001"))  # NUL never gets this far
    error = refused(config={"headers": ["X-Ticket"]}, **payload)
    assert error.pointer == {"subject": "/payload/subject", "header": "/payload/headers/X-Ticket"}[place]


@pytest.mark.parametrize("value", ["", "   ", 5, None, ["a"], "x" * 501])
def test_a_subject_is_a_line_of_text(value):
    assert refused(subject=value).pointer == "/payload/subject"


@pytest.mark.parametrize("value", [5, None, {"html": "<p>"}, "a\rb"])
def test_the_text_is_text(value):
    assert refused(text=value).pointer == "/payload/text"


@pytest.mark.parametrize("key", ["to", "cc", "bcc", "Bcc", "recipients"])
def test_a_payload_cannot_name_a_recipient(key):
    error = refused(**{key: "x@evil.example"})
    assert error.pointer == f"/payload/{key}"
    assert "resource says who" in str(error)


@pytest.mark.parametrize("key", ["html", "from", "attachments", "message_id"])
def test_a_payload_has_nothing_else(key):
    assert refused(**{key: "x"}).pointer == f"/payload/{key}"


def test_a_header_the_channel_does_not_allow_is_refused():
    assert refused(headers={"X-Ticket": "17"}).pointer == "/payload/headers/X-Ticket"


def test_a_header_comes_once():
    config = {"headers": ["X-Ticket"]}
    assert refused(config=config, headers={"X-Ticket": "1", "x-ticket": "2"}).pointer.endswith("icket")


def test_allowed_headers_come_in_the_order_of_their_names():
    config = {"headers": ["X-Ticket", "Reply-To", "References", "X-Note", "List-Id"]}
    given_headers = {
        "x-ticket": "17",
        "References": "<a@example.org> <b@example.org>",
        "Reply-To": "desk@example.org",
        "X-Note": "für Ada",
        "list-id": "Room <room.example.org>",
    }
    found = parsed(mail_job(mail_settings(**config), headers=given_headers))
    assert found.keys()[4:9] == ["List-Id", "References", "Reply-To", "X-Note", "X-Ticket"]
    assert (found["X-Note"], found["References"]) == ("für Ada", "<a@example.org> <b@example.org>")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Reply-To", "ada@example.org, x@evil.example"),
        ("Reply-To", "Ada <ada@example.org>"),
        ("References", "no id"),
        ("In-Reply-To", "<a@b> <" + "x" * 1000 + ">"),
        ("List-Id", "ü"),
        ("List-Id", "=?utf-8?q?x?="),
    ],
)
def test_a_header_that_programs_read_is_what_it_should_be(name, value):
    error = refused(config={"headers": [name]}, headers={name: value})
    assert error.pointer == f"/payload/headers/{name}"


@pytest.mark.parametrize("headers", ["X: y", ["X"], None])
def test_headers_are_an_object(headers):
    assert refused(headers=headers).pointer == "/payload/headers"


@pytest.mark.parametrize(
    "resource",
    [
        "ada",
        "Ada <ada@example.org>",
        '"ada ada"@example.org',
        "ada@example.org ben@example.org",
        "ada@example.org,",
        "ada@example.org;ben@example.org",
        "ada@",
        "@example.org",
        "ada@exam_ple.org",
        "ada@-example.org",
        "ada@[127.0.0.1]",
        "a..b@example.org",
        ".a@example.org",
        "grüße@example.org",
        "ada@exämple.org",
        "victim%evil.example@example.org",
        "evil.example!victim@example.org",
        "a@b@example.org",
        "ada@example.org>",
        "<ada@example.org>",
        "ada(x)@example.org",
        "ada@example.org, ADA@example.org",
        "a" * 65 + "@example.org",
        "ada@" + "a." * 127 + "org",
        "ada@example.org\u00a0",
    ],
)
def test_a_resource_that_is_no_plain_address_is_refused(resource):
    assert refused(resource=resource).pointer == "/resource"


@pytest.mark.parametrize("resource", ["o'neil+tag@example.org", "a_b-c=d@xn--exmple-cua.org", "root@mailhost"])
def test_plain_addresses_are_taken(resource):
    assert mail_job(mail_settings(), resource=resource).request.headers[1] == ("RCPT TO", resource)


def test_a_recipient_outside_the_channels_domains_is_refused():
    config = {"recipient_domains": ["example.org"]}
    assert mail_job(mail_settings(**config), resource="ada@Example.ORG")
    assert refused(resource="ada@example.org, x@sub.example.org", config=config).pointer == "/resource"


def test_everybody_can_be_allowed():
    assert mail_job(mail_settings(recipient_domains=["*"]), resource="ada@example.net")
