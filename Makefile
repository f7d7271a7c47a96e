# Everything starts from a bare checkout: Python >= 3.11 (with venv) and make are all that is needed.
#
#     make reproduce      the paper's figures and claims, into results/
#     make test           style, types, layers, every test and every docstring example
#     make processors     the numerical tests with the code for other processors
#     make versions       tests with the oldest and the newest versions of the dependencies, below VERSIONS
#     make stress         random hostile cases, for STRESS_SECONDS (300)
#     make benchmark      timings
#     make docs           the documentation, into docs/_build/html
#     make clean          remove all of the above and the environment
#
# Settings:  make PYTHON=/path/to/python3.12 ...      which interpreter makes a new environment
#            make test JOBS=4 PYTEST_ARGS="-k torus"  how many test processes, and what pytest is told
#            make reproduce REPRODUCE_ARGS=--quick    what `specavg reproduce` is told

PYTHON ?=
JOBS ?= 2
PYTEST_ARGS ?=
REPRODUCE_ARGS ?=
STRESS_SECONDS ?= 300
VERSIONS ?= .venvs
# OpenBLAS has code for each of these, and computes in another order with each. CORES of one word are quick.
CORES ?= Prescott Nehalem Sandybridge Haswell Zen SkylakeX
NUMERICAL ?= tests/test_s2_point_groups.py tests/test_high_degrees.py tests/test_fixed_space.py tests/test_sphere.py \
	tests/test_rotations.py tests/test_stiefel.py tests/test_laws.py tests/test_kernel_ridge.py \
	tests/test_kernel_mixture.py tests/test_groups.py

VENV := .venv
BIN := $(VENV)/bin
CHECKED := $(wildcard src tests tools benchmarks examples)

# Tests run in $(JOBS) processes, so each keeps to one thread: BLAS would otherwise start one per core in each.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 MPLBACKEND=Agg

.PHONY: help test lint processors versions stress reproduce benchmark docs clean
.DELETE_ON_ERROR:
# One environment, several stamps: two pip processes must not write to it at the same time.
.NOTPARALLEL:

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

# One stamp per extra; set-up is repeated only when pyproject.toml or the set-up script itself changes.
$(VENV)/.installed-%: pyproject.toml tools/bootstrap.sh
	@PYTHON="$(PYTHON)" tools/bootstrap.sh $(VENV) $*
	@touch $@

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/python tools/check_layers.py

test: lint
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

# A core type that this machine cannot run ends in an illegal instruction: it is left out, and said to be.
processors: $(VENV)/.installed-dev
	@for core in $(CORES); do \
		if OPENBLAS_CORETYPE=$$core $(BIN)/python -c "import numpy as np; np.linalg.svd(np.ones((99, 99)))"; \
		then echo "== $$core"; OPENBLAS_CORETYPE=$$core $(ONE_THREAD) $(BIN)/python -m pytest -q -p no:cacheprovider \
			-n $(JOBS) $(NUMERICAL) $(PYTEST_ARGS) || exit 1; \
		else echo "== $$core: this machine cannot run it"; fi; \
	done
	NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=.numba_cache/generic $(ONE_THREAD) $(BIN)/python -m pytest -q -n $(JOBS) \
		$(NUMERICAL) $(PYTEST_ARGS)

# Environments of their own, one for each Python that is there; the table of docs/versions.md is written anew.
versions: $(VENV)/.installed-dev
	$(BIN)/python tools/versions.py --below $(VERSIONS)

stress: $(VENV)/.installed-dev
	$(ONE_THREAD) $(BIN)/python tests/stress.py --seconds $(STRESS_SECONDS)

reproduce: $(VENV)/.installed-reproduce
	$(BIN)/specavg reproduce --out results $(REPRODUCE_ARGS)

benchmark: $(VENV)/.installed-dev
	@test -e benchmarks/__main__.py || { echo "no benchmarks yet: benchmarks/__main__.py is missing" >&2; exit 1; }
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	@test -e docs/conf.py || { echo "no documentation yet: docs/conf.py is missing" >&2; exit 1; }
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

clean:
	rm -rf $(VENV) $(VERSIONS) .numba_cache .pytest_cache .ruff_cache .hypothesis build dist docs/_build docs/auto_examples docs/generated
	rm -rf results benchmark-results
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
