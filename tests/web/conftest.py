"""The cast in front of a browser: who is logged in, what their page holds, what they press."""

from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from django.test import Client

from tests.cast import Story, clock, lasting_story, remote, story

__all__ = ["clock", "lasting_story", "remote", "story"]


class Forms(HTMLParser):
    """Every form of a page, by its address: the fields a browser would send without anybody typing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, dict[str, str]] = {}
        self._fields: dict[str, str] | None = None
        self._area = self._choice = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "option" and self._fields is not None and "selected" in values:
            self._fields[self._choice] = values["value"]
        elif tag == "form":
            self._fields = self.found.setdefault(values.get("action") or "", {})
        elif self._fields is None or "name" not in values:
            return
        elif tag == "input" and values.get("type") not in ("checkbox", "submit"):
            self._fields[values["name"]] = values.get("value") or ""
        elif tag == "textarea":
            self._area = values["name"]
            self._fields[self._area] = ""
        elif tag == "select":
            self._choice = values["name"]
            self._fields[self._choice] = ""

    def handle_data(self, data):
        if self._area and self._fields is not None:
            self._fields[self._area] += data.removeprefix("\n")

    def handle_endtag(self, tag):
        if tag == "textarea":
            self._area = ""
        elif tag == "form":
            self._fields = None


@dataclass
class Tab:
    """One person's browser without script."""

    client: Client
    story: Story

    def open(self, draft, query=""):
        return self.client.get(f"/drafts/{draft.pk}/{query}")

    def form(self, draft, query=""):
        """The decision form as it stands on the page."""
        return Forms(self.open(draft, query).content.decode()).found[f"/drafts/{draft.pk}/"]

    def press(self, draft, verdict="approve", *, form=None, htmx=False, **changed):
        """Posts the decision form, opened now or earlier, with some fields changed."""
        fields = {**(form or self.form(draft)), "verdict": verdict, **changed}
        sent = {name: value for name, value in fields.items() if value is not None}
        return self.client.post(f"/drafts/{draft.pk}/", sent, headers=HTMX if htmx else {})


HTMX = {"HX-Request": "true"}


@pytest.fixture
def browse(story):
    """Gives a tab of somebody who is logged in."""

    def tab(name: str) -> Tab:
        client = Client()
        client.force_login(story.user[name])
        return Tab(client, story)

    return tab
