"""Templates, styles and icons keep the rules that no page shows at a glance."""

import re
from pathlib import Path

import pytest

from approvals.web.words import STATE_LABELS

ROOT = Path(__file__).resolve().parent.parent.parent
CSS = ROOT / "static" / "css"
STYLES = [path for path in CSS.rglob("*.css") if path.name not in ("tokens.css", "index.css")]
TEMPLATES = [path for path in (ROOT / "templates").rglob("*.html") if "admin" not in path.parts]
RAW = re.compile(r"#[0-9a-f]{3,8}\b|\brgba?\(|(?<![\w-])\d*\.?\d+(px|rem|ms)\b")


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_raw_values_stand_only_in_the_tokens(path):
    text = re.sub(r"/\*.*?\*/|@media[^{]+", "", path.read_text(), flags=re.DOTALL)
    assert RAW.search(text) is None


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_every_token_that_is_used_is_defined(path):
    defined = set(re.findall(r"(--[\w-]+):", (CSS / "tokens.css").read_text() + path.read_text()))
    assert set(re.findall(r"var\((--[\w-]+)", path.read_text())) - defined == set()


def test_every_token_is_used():
    tokens = (CSS / "tokens.css").read_text()
    everything = tokens + "".join(path.read_text() for path in STYLES)
    assert [name for name in re.findall(r"(--[\w-]+):", tokens) if f"var({name})" not in everything] == []


def test_every_style_sheet_is_loaded():
    index = (CSS / "index.css").read_text()
    assert [path.name for path in STYLES if f'{path.name}"' not in index] == []


@pytest.mark.parametrize("state", STATE_LABELS)
def test_every_state_has_a_shape(state):
    assert f'id="status-{state}"' in (ROOT / "static" / "icons.svg").read_text()


def test_every_icon_that_is_named_is_drawn():
    drawn = set(re.findall(r'symbol id="([\w-]+)"', (ROOT / "static" / "icons.svg").read_text()))
    named = {name for path in TEMPLATES for name in re.findall(r'{% icon "([\w-]+?)"(?!\|)', path.read_text())}
    code = "".join(path.read_text() for path in (ROOT / "approvals" / "web").rglob("*.py"))
    named |= set(re.findall(r'"(status-[a-z_]+)"', code))
    assert named - drawn == set()


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.parent.name == "components"], ids=lambda p: p.name)
def test_a_component_begins_with_its_variables(path):
    assert path.read_text().startswith("{% comment %}\n")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_hold_no_inline_style_or_script(path):
    text = path.read_text()
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)|\|safe|autoescape off", text)


def test_every_class_in_a_template_has_a_rule():
    css = "".join(path.read_text() for path in STYLES)
    known = set(re.findall(r"\.([a-z][\w-]*)", css))
    used = set()
    for path in TEMPLATES:
        text = re.sub(r"{%.*?%}|{{.*?}}", " {} ", path.read_text(), flags=re.DOTALL)
        for names in re.findall(r'class="([^"]*)"', text):
            used |= {name for name in names.split() if "{" not in name and not name.endswith("-")}
    assert used - known == set()
