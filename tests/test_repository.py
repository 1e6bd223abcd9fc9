"""The tree keeps its own promises: sizes, pins, documentation."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from reviewroom import diagrams

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MODULE = 400
LONGEST_FUNCTION = 40
TEXT_SUFFIXES = {".py", ".html", ".css", ".js", ".md", ".toml", ".txt", ".sh", ".cfg", ""}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w")


def tracked(*patterns):
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def code():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return [path for path in tracked("*.py") if "migrations" not in path.parts]


@pytest.fixture(scope="module")
def product(code):
    return [path for path in code if path.relative_to(ROOT).parts[0] != "tests"]


def test_no_module_is_too_long(product):
    lengths = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in product}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_function_is_too_long(product):
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in product
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert found == []


def test_every_module_says_what_it_is(product):
    silent = [
        str(path.relative_to(ROOT))
        for path in product
        if path.read_text().strip() and ast.get_docstring(ast.parse(path.read_text())) is None
    ]
    assert silent == []


def test_no_path_of_a_machine_is_in_the_tree():
    files = [path for path in tracked() if path.suffix in TEXT_SUFFIXES]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def requirements(name):
    lines = (ROOT / name).read_text().splitlines()
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip() and not line.startswith("-r")]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-demo.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned(name):
    assert [line for line in requirements(name) if not re.fullmatch(r"[\w.-]+(\[\w+\])?==[\w.]+", line)] == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-demo.txt", "requirements-dev.txt"])
def test_every_direct_dependency_has_a_reason(name):
    page = (ROOT / "docs" / "dependencies.md").read_text()
    direct = (ROOT / name).read_text().split("# What those need")[0].splitlines()
    names = [re.split(r"[\[=]", line)[0] for line in direct if "==" in line]
    assert [
        package for package in names if not re.search(rf"^\|.*\b{re.escape(package)}\b.*\|.*\|", page, re.MULTILINE)
    ] == []


def test_the_state_diagrams_are_fresh():
    page = diagrams.PAGE.read_text()
    assert diagrams.drawn(page) == page, "run `make diagrams`"


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in tracked("*.md")
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
