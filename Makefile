# make run, make test, make demo, make check: nothing is needed but Python 3.11 or newer and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
TEMPLATES := $(wildcard templates)

# An environment carries the checksum of the requirements it was made from; when they change it is brought up to date.
RUN := .venv/run-$(shell cat requirements.txt requirements-demo.txt | cksum | cut -d' ' -f1)
DEV := .venv/dev-$(shell cat requirements.txt requirements-demo.txt requirements-dev.txt | cksum | cut -d' ' -f1)

# One test process more than cores, each with its own database: many tests wait for a remote. One by one: PROCESSES=0
PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# How often `make fire` runs every test with real processes.
TIMES ?= 20

# What `check --deploy` looks at: a production start. Nothing is kept or sent with these values.
DEPLOY := REVIEWROOM_SECRET_KEY=checked-only-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGH \
	REVIEWROOM_ALLOWED_HOSTS=review.example REVIEWROOM_INSTANCE=checked-only REVIEWROOM_DEBUG=false

.DEFAULT_GOAL := help
.PHONY: help run test test-sqlite test-postgresql demo check format diagrams fire bench model clean

help:
	@echo "make run     web, workers and a demo tracker on http://127.0.0.1:8000"
	@echo "make test    all tests on SQLite, then what touches the database on PostgreSQL"
	@echo "make demo    the whole story in one terminal, against a real tracker"
	@echo "make check   formatters, linters, types, migrations, deploy check, floors"
	@echo "make format  lets the formatters write"
	@echo "make fire    real workers, stopped and killed, 20 times on both databases (or TIMES=1)"
	@echo "make bench   measures the hot paths"
	@echo "make bench-drain  measures the outbox against a plain loop on both databases; writes docs/performance.md"
	@echo "make model   explores every order of events of the delivery protocol"
	@echo "make clean   removes the environment and all data"

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Review Room needs Python 3.11 or newer; install it, or run: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Review Room needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Run: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv

$(RUN): | .venv/bin/python
	@echo "Installing what requirements-demo.txt lists; this takes a minute, once."
	$(PIP) -r requirements-demo.txt
	@rm -f .venv/run-* && touch $@

$(DEV): | .venv/bin/python
	@echo "Installing what requirements-dev.txt lists; this takes a minute, once."
	$(PIP) -r requirements-dev.txt
	@rm -f .venv/run-* .venv/dev-* && touch $(RUN) $@

run: $(RUN)
	@exec $(BIN)/python -m reviewroom.run

test: test-sqlite test-postgresql

test-sqlite: $(DEV)
	$(BIN)/python -m pytest -n $(PROCESSES) --database sqlite $(PYTEST)

test-postgresql: $(DEV)
	$(BIN)/python -m pytest -n $(PROCESSES) --database postgresql $(PYTEST)

demo: $(RUN)
	@exec $(BIN)/python manage.py demo

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/djlint --lint --quiet $(TEMPLATES)
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(DEPLOY) $(BIN)/python -W error manage.py check --deploy --fail-level WARNING
	$(BIN)/python -m pytest -q -p no:randomly tests/test_floors.py tests/test_repository.py

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

diagrams: $(RUN)
	$(BIN)/python -m reviewroom.diagrams

fire: $(DEV)
	@$(BIN)/python -m tests.fire --times $(TIMES)

bench: $(DEV)
	$(BIN)/python -m bench

bench-drain: $(DEV)
	$(BIN)/python -m bench.drain $(BENCH)

model: $(DEV)
	$(BIN)/python -m tests.model

clean:
	rm -rf .venv var .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
