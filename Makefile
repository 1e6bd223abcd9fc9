# make run, make test, make demo, make check: nothing else is needed than Python 3.11 and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMP := .venv/requirements.stamp

.PHONY: run test demo check bench clean
.DEFAULT_GOAL := run

$(STAMP): requirements.txt requirements-demo.txt requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $(STAMP)

run: $(STAMP)
	$(BIN)/python -m reviewroom.run

test: $(STAMP)
	$(BIN)/python -m pytest

demo: $(STAMP)
	$(BIN)/python manage.py demo

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m bench

clean:
	rm -rf .venv var .mypy_cache .ruff_cache .pytest_cache .hypothesis
