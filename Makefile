# Every target sets up what it needs first; a second run does no set-up.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-spark wheel lint bench rewrites-report clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## virtual environment, dependencies, Java

$(READY): pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV)

demo: $(READY)  ## a query over a disordered stream of vehicles, live, for half a minute
	@$(BIN)/slackwater run examples/traffic.sql --for '30 seconds' --checkpoint "$$(mktemp -d)"

test: $(READY) lint  ## style, types, import arrows, then every test
	@$(BIN)/python -m pytest -n 2 --dist worksteal --durations=15

test-spark:  ## the Spark tests with another version of Spark: make test-spark SPARK=4.0.5
	@tools/test-spark.sh $(SPARK) $(TESTS)

wheel: $(READY)  ## the package as a file that pip installs, in dist/
	@$(BIN)/python -m pip wheel --quiet --no-deps -w dist . && ls dist/*.whl

lint: $(READY)  ## ruff, mypy, import-linter
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: $(READY)  ## every benchmark, side by side, as ratios
	@$(BIN)/python -m bench

rewrites-report: $(READY)  ## rule, cases run, times fired
	@$(BIN)/python -m pytest tests/rewrite -q --rewrites-report

clean:  ## remove what set-up and tests made
	rm -rf $(VENV) .versions .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
