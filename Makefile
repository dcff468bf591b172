# Every target sets up what it needs in .venv first; `make help` lists them.

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter that is new enough; name another with `make PYTHON=... setup`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
GENERATORS := $(wildcard tools/generate_*.py)

.DEFAULT_GOAL := help
.PHONY: setup demo test check fast spec bench chaos docs clean help

setup: $(VENV)/.dev ## install Stanchion and its development tools into .venv

demo: $(VENV)/.dev ## show the queue at work, end to end
	$(BIN)/stanchion demo

test: $(VENV)/.dev ## run all tests but the live campaigns
	$(BIN)/python -m pytest -m "not live"

check: $(VENV)/.dev ## style, types, import contracts, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@set -e; for script in $(GENERATORS); do \
		echo "$(BIN)/python $$script --check"; $(BIN)/python $$script --check; done

fast: $(VENV)/.dev ## run the quick tests, in seconds; lists those that should be marked slow
	$(BIN)/python -m pytest -n auto -m "not slow and not live" -q --durations=10 --durations-min=0.25

spec: $(VENV)/.dev ## list each sentence of the specification with its tests, and run them
	$(BIN)/python tools/spec_listing.py
	$(BIN)/python -m pytest -m "not live" tests/spec

bench: $(VENV)/.bench ## measure Stanchion beside other queues
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.server

chaos: $(VENV)/.dev ## kill and restart real processes, and check that no promise broke
	$(BIN)/python -m pytest -m live

docs: $(VENV)/.dev ## write the reference again from the code
	$(BIN)/python tools/generate_reference.py

clean: ## remove all that these targets made, .venv too
	rm -rf $(VENV) build dist htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests tools benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.pip:
	@test -n "$(PYTHON)" || { echo "Stanchion needs Python 3.11 or newer; none was found." >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.pip
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	$(INSTALL) --editable '.[bench]'
	@touch $@
