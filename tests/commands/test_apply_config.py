import pytest
from django.core.management import CommandError

from approvals.models import AuditEvent, Channel, Membership, Room, User

TEXT = """\
[[users]]
name = "ada"
[[users]]
name = "ben"
[[users]]
name = "reply-bot"
kind = "agent"
acts_for = ["ada"]

[[rooms]]
slug = "facilities"
policy = {required_approvals = 2, review_ttl = "7d"}
members = [{user = "ada", roles = ["proposer"]}, {user = "ben", roles = ["reviewer"], groups = ["legal"]}]

[[rooms.channels]]
slug = "tracker"
connector = "roundup"
account = "facilities"
resource = "issue"
concurrency = "append"
secret = "TRACKER"
config = {base_url = "https://192.0.2.7/rest/data"}
[rooms.channels.operations."ticket.create"]
schema = {type = "object"}
"""


@pytest.fixture(autouse=True)
def reachable(settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True  # an address for documentation is not a public one


@pytest.fixture
def apply(tmp_path, command, db):
    def call(text, *options):
        file = tmp_path / "room.toml"
        file.write_text(text)
        return command("apply_config", str(file), *options)

    return call


def test_a_room_with_people_and_channel_is_made(apply):
    apply(TEXT)
    assert Channel.objects.get().config.config == {"base_url": "https://192.0.2.7/rest/data"}


def test_it_says_what_changed(apply):
    assert "user reply-bot: acts for ada\n" in apply(TEXT)


def test_a_second_run_changes_nothing(apply):
    apply(TEXT)
    before = AuditEvent.objects.count()
    assert (apply(TEXT)[:10], AuditEvent.objects.count()) == ("Everything", before)


def test_check_changes_nothing(apply):
    with pytest.raises(CommandError):
        apply(TEXT, "--check")
    assert not User.objects.exists()


def test_check_fails_on_drift(apply):
    apply(TEXT)
    with pytest.raises(CommandError, match="differs") as caught:
        apply(TEXT.replace("required_approvals = 2", "required_approvals = 1"), "--check")
    assert caught.value.returncode == 1


def test_check_is_content_with_what_it_says(apply):
    apply(TEXT)
    assert apply(TEXT, "--check").startswith("Everything")


def test_a_member_left_out_loses_the_roles(apply):
    apply(TEXT)
    apply(TEXT.replace(', {user = "ben", roles = ["reviewer"], groups = ["legal"]}', ""))
    assert Membership.objects.get(user__username="ben").roles == ()


def test_a_room_not_named_is_left_alone(apply):
    apply(TEXT)
    apply('[[rooms]]\nslug = "other"\n')
    assert Room.objects.get(slug="facilities").policy["required_approvals"] == 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "ben"', 'name = "ben"\nnickname = "b"', r":5: users\.1\.nickname: There is no such key"),
        (
            "required_approvals = 2",
            "required_approvals = 0",
            r":12: rooms\.0\.policy\.required_approvals: Give a whole",
        ),
        ('"reviewer"', '"boss"', r":13: rooms\.0\.members\.1\.roles\.0: "),
        ('user = "ben"', 'user = "zoe"', r":13: rooms\.0\.members\.1\.user: There is no user zoe"),
        ('connector = "roundup"', 'connector = "fax"', r":17: rooms\.0\.channels\.0\.connector: There is no conn"),
        ("https://192.0.2.7", "ftp://192.0.2.7", r":22: rooms\.0\.channels\.0\.config\.base_url: "),
        ('schema = {type = "object"}', 'schema = {type = "thing"}', r'operations\."ticket\.create"\.schema\.type: '),
        ('"7d"', "2026-11-30", r":12: rooms\.0\.policy\.review_ttl: Put the time in quotes"),
        ("required_approvals = 2", "required_approvals = nan", r":12: .*Give a finite number"),
        ('slug = "facilities"', 'slug = "facilities', r"room\.toml: .*line 11"),
    ],
)
def test_a_fault_is_told_with_file_line_and_key(apply, old, new, told):
    with pytest.raises(CommandError, match=told):
        apply(TEXT.replace(old, new, 1))


def test_a_fault_changes_nothing(apply):
    with pytest.raises(CommandError):
        apply(TEXT.replace("https://192.0.2.7", "ftp://192.0.2.7"))
    assert not User.objects.exists()


def test_a_private_address_is_refused(apply, settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = False
    with pytest.raises(CommandError, match=r":22: .*base_url"):
        apply(TEXT.replace("192.0.2.7", "127.0.0.1"))


def test_a_name_that_leads_to_a_private_address_is_refused(apply, settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = False
    with pytest.raises(CommandError, match=r":22: .*base_url"):
        apply(TEXT.replace("192.0.2.7", "localhost"))


def test_a_missing_file_is_said(command, tmp_path, db):
    with pytest.raises(CommandError, match="cannot be read"):
        command("apply_config", str(tmp_path / "nowhere.toml"))
