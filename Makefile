# Each target sets up what it needs in .venv, once; a stamp file remembers it until pyproject.toml changes.

PYTHON ?= python3
PORT ?= 8080
HOST_PORT ?= 8081
DOCS_PORT ?= 8082
# the one without windows takes half the processor time
CHROMIUM ?= $(shell command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || \
  command -v google-chrome)

# tests wait for a part of their time: one worker more than there are cores keeps these busy
WAITING_WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 1)
# journeys that test-servers runs once more on PostgreSQL; test-postgres runs all
ON_POSTGRES := tests/journeys/aitp/threads tests/journeys/aitp/runs tests/journeys/ahp/sessions/test_record.py

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# the suite starts many processes, and each would compile all modules again
export PYTHONDONTWRITEBYTECODE :=

# a commit in memory waits for no disk: temporary files are there if 6 GB are free and programs may run
IN_MEMORY := $(shell awk '$$2 == "/dev/shm" && $$4 !~ /noexec/' /proc/mounts 2>/dev/null | grep -q . && \
  test "$$(df -P /dev/shm | awk 'END {print $$4}')" -gt 6000000 && echo /dev/shm)
test test-servers test-postgres: export TMPDIR := $(or $(IN_MEMORY),$(TMPDIR),/tmp)

JOURNEYS := tests/journeys

.PHONY: demo docs test test-servers test-postgres check

# serve the example shop on 127.0.0.1:8080 (PORT=… for another), and on 127.0.0.1:8081 a website that has its chat
demo: .venv/.run-time
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory examples/host_site $(HOST_PORT) >/dev/null 2>&1 & \
	website=$$!; (while kill -0 $$$$; do sleep 1; done; kill $$website) 2>/dev/null & \
	echo "a website with the chat of the shop: http://127.0.0.1:$(HOST_PORT)/"; \
	exec $(BIN)/aitp-desk serve examples/shop --host 127.0.0.1 --port $(PORT)

# build the site of docs/ in build/docs, and serve it on 127.0.0.1:8082 with a desk that answers on it
docs: .venv/.docs
	$(BIN)/python -m examples.docs_site.edition build/docs
	@exec $(BIN)/python -m examples.docs_site.server build/docs $(DOCS_PORT)

# everything except tests that need a browser or a server, and slow tests
test: .venv/.dev
	$(BIN)/pytest -q -n $(WAITING_WORKERS) --dist worksteal -m "not servers and not slow"

# tests that need a browser or a server, slow tests, and more examples of the property tests; some journeys on PostgreSQL.
# In the order of their names the files of many quick tests, which are those of units, come last and fill all workers.
test-servers: .venv/.browser
	@test -n "$(CHROMIUM)" || { \
	  echo "These tests need Chromium: on Debian and Ubuntu, apt install chromium (or CHROMIUM=/path/to/it)." >&2; \
	  exit 1; }
	AITP_DESK_EXAMPLES=50 CHROMIUM="$(CHROMIUM)" $(BIN)/pytest -q -n $(WAITING_WORKERS) --dist loadfile \
	  --no-loadscope-reorder -m "slow or hypothesis or servers"
	@$(MAKE) test-postgres JOURNEYS="$(ON_POSTGRES)"

# journeys on PostgreSQL, all of them unless JOURNEYS names some
test-postgres: .venv/.browser
	AITP_DESK_TEST_STORE=postgres $(BIN)/pytest -q -n $(WAITING_WORKERS) --dist worksteal \
	  -m "not servers and not slow and not sqlite" $(JOURNEYS)

# style, types (those of the browser tests too), layers, and that the docs tell the truth
check: .venv/.browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q -m "not servers" tests/docs

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "aitp-desk needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python cannot make virtual environments: on Debian and Ubuntu, apt install python3-venv." >&2; \
	  exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.run-time: .venv/.made pyproject.toml
	$(PIP) --editable '.[jose]'
	@touch $@

.venv/.docs: .venv/.run-time
	$(PIP) --editable '.[docs]'
	@touch $@

.venv/.dev: .venv/.run-time
	$(PIP) --editable '.[dev]'
	@touch $@

.venv/.browser: .venv/.dev
	$(PIP) --editable '.[dev,browser,docs,frameworks]'
	@touch $@
