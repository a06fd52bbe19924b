# The same commands at the desk and in continuous integration. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help setup demo serve test check format lock bench eval clean

BIN := .venv/bin
PY := $(BIN)/python
export PYTHON

# Nothing phones home, and checkpoints are read strictly.
QUIET := LANGSMITH_TRACING=false LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=1 ANONYMIZED_TELEMETRY=False
STRICT := LANGGRAPH_STRICT_MSGPACK=true

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Make .venv from requirements.lock (skipped where it is up to date)
	@scripts/setup.sh

demo: setup ## Index a small folder and answer questions on it, without any key
	@$(QUIET) $(PY) -m demo

serve: setup ## Start the LangGraph server
	$(QUIET) $(BIN)/langgraph dev --no-browser --n-jobs-per-worker 10

test: setup ## Run the tests, offline (ARGS="-k web" to choose)
	$(QUIET) $(STRICT) $(PY) -m pytest $(ARGS)

check: setup ## Lint, format, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Format, and repair what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## Resolve pyproject.toml anew into requirements.lock (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: https://docs.astral.sh/uv/" >&2; exit 1; }
	uv pip compile pyproject.toml --extra dev --universal --generate-hashes --python-version 3.11 \
		--no-header --no-emit-index-url --no-annotate -o requirements.lock

bench: setup ## Time ingestion and search
	$(QUIET) $(PY) -m evals.bench

eval: setup ## Run the evaluation suites (PERQUIRE_EVAL_DATA names the folder of larger sets)
	@test -f evals/__main__.py || { echo "There is no evaluation to run yet: evals/__main__.py is missing."; exit 0; }; \
	data="$${PERQUIRE_EVAL_DATA:-../shared/data}"; \
	test -d "$$data" || { echo "No evaluation data: there is no folder $$data. Set PERQUIRE_EVAL_DATA to one."; exit 0; }; \
	$(QUIET) $(PY) -m evals --data "$$data" $(ARGS)

clean: ## Remove .venv, caches and build leftovers
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
