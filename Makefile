# Every target sets up what it needs first; a second run does no set-up.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CLASSES := build/spark.jsa
# Images of containers often forbid bytecode files. Every process of the tests would then compile the package again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow quick test-spark wheel lint bench docs rewrites-report clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## virtual environment, dependencies, Java

$(READY): pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV)

demo: $(READY)  ## a stream whose delays change while it runs, live, with its dashboard, for 45 seconds
	@$(BIN)/slackwater demo traffic --ui --plot demo.png

$(CLASSES): $(READY) tests/archive.py
	-@$(BIN)/python -m tests.archive $@

test: $(READY)  ## style, types, import arrows, then every test but the slow few
	@$(MAKE) --no-print-directory -j 2 $(CLASSES) lint
	@$(BIN)/python -m pytest -n 2 --dist worksteal --durations=15 -m 'not slow'

test-slow: $(CLASSES)  ## the slow few: clusters, servers, a browser, notebooks, processes that are killed
	@$(BIN)/python -m pytest -n 2 --dist worksteal --durations=15 -m slow

quick: $(READY)  ## style, then every test that needs no Spark, but the long ones, laws with a tenth of their cases: for the edit loop
	@$(BIN)/ruff check -q . && SLACKWATER_CASES=0.1 $(BIN)/python -m pytest -n 2 --dist worksteal -q -m 'not spark and not slow and not long'

test-spark:  ## the Spark tests with another version of Spark: make test-spark SPARK=4.0.5
	@tools/test-spark.sh $(SPARK) $(TESTS)

wheel: $(READY)  ## the package as a file that pip installs, in dist/
	@$(BIN)/python -m pip wheel --quiet --no-deps -w dist . && ls dist/*.whl

lint: $(READY)  ## ruff, mypy, import-linter
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: $(READY)  ## every benchmark, side by side, as ratios
	@$(BIN)/python -m bench

docs: $(READY)  ## the guide as a site in build/site; every link is checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict && echo "to read it: $(BIN)/python -m http.server --directory build/site --bind 127.0.0.1"

rewrites-report: $(READY)  ## rule, cases run, times fired
	@$(BIN)/python -m pytest tests/rewrite -q --rewrites-report

clean:  ## remove what set-up and tests made
	rm -rf $(VENV) .versions .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
