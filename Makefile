# Works with make and Python 3.11+ alone; everything else is installed into .venv.
# Arguments: make test ARGS='tests/actions -k refund'. Another Python: make PYTHON=python3.12 test.

SHELL := /bin/sh
ARGS ?=
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	echo $$python; exit; fi; done; echo python3)
RAZVIEL := $(PYTHON) razviel/embedded/bootstrap.py

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-fast check fmt run manage bench install update-locks

help: ## show these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

demo: ## play the cases end to end on a real database, broker, worker and sandbox
	@$(RAZVIEL) demo $(ARGS)

test: ## run every test on a throw-away database and broker
	@$(RAZVIEL) test $(ARGS)

test-fast: ## run the quick tests, stop at the first failure
	@$(RAZVIEL) test-fast $(ARGS)

check: ## formatting, lint, import contracts, types, missing migrations
	@$(RAZVIEL) check

fmt: ## format and fix what can be fixed
	@$(RAZVIEL) fmt $(ARGS)

run: ## web, worker and beat on lasting data in .razviel/
	@$(RAZVIEL) run $(ARGS)

manage: ## a management command on the data of make run: make manage ARGS='token ...'
	@$(RAZVIEL) manage $(ARGS)

bench: ## measure settled intents per second through the whole path
	@$(RAZVIEL) bench $(ARGS)

install: ## only make .venv
	@$(RAZVIEL) install

update-locks: ## resolve requirements/*.in anew (needs uv)
	@for name in base dev lint browser; do \
	uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-annotate --no-header -q -o requirements/$$name.txt requirements/$$name.in \
	|| exit 1; done
