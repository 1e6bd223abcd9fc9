import pytest
from django.core.management import CommandError

from approvals.models import ApiToken
from approvals.services import tokens


def test_the_printed_token_works(story, command):
    printed = command("create_token", "--user", "reply-bot", "--scopes", "propose,introspect").strip()
    assert tokens.authenticate(printed).user.username == "reply-bot"


def test_only_a_hash_is_kept(story, command):
    printed = command("create_token", "--user", "ada", "--scopes", "propose").strip()
    assert ApiToken.objects.get().digest == tokens.digest_of(printed)


def test_a_token_can_be_bound_to_a_person(story, command):
    command("create_token", "--user", "reply-bot", "--scopes", "propose", "--acts-for", "ada")
    assert ApiToken.objects.get().acts_for.username == "ada"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--user", "zoe", "--scopes", "propose"), "no active user zoe"),
        (("--user", "ada", "--scopes", "propose,everything"), "not everything"),
        (("--user", "ada", "--scopes", ","), "not none"),
        (("--user", "reply-bot", "--scopes", "review"), "only propose and introspect"),
        (("--user", "reply-bot", "--scopes", "propose", "--acts-for", "ben"), "does not act for ben"),
    ],
)
def test_a_wrong_token_is_refused_with_the_reason(story, command, words, told):
    with pytest.raises(CommandError, match=told):
        command("create_token", *words)
