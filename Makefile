# `make` builds the environment and every figure; `make test` runs the tests; see README.md.
SHELL := /bin/bash
.DEFAULT_GOAL := all
.PHONY: all env report smoke test test-slow lint archive clean

VENV := .venv
SUITABLE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON := $(firstword $(foreach p,python3 python3.13 python3.12 python3.11 python,\
	$(shell command -v $(p) >/dev/null 2>&1 && $(p) -c '$(SUITABLE)' 2>/dev/null && echo $(p))))
INSTALLED := $(VENV)/installed
SNAKEMAKE := $(VENV)/bin/snakemake

all: $(INSTALLED)
	$(SNAKEMAKE)
	@PYTHONPATH=src:workflow $(VENV)/bin/python -m lib.claims_table results/summary/claims.csv
	@echo; echo "Figures: $(CURDIR)/figures"; echo "Report:  $(CURDIR)/results/report/index.html"

report: $(INSTALLED)
	$(SNAKEMAKE) report
	@echo; echo "Report: $(CURDIR)/results/report/index.html"

env: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "largeprompt needs Python 3.11, 3.12 or 3.13 on the PATH" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

smoke: $(INSTALLED)
	$(SNAKEMAKE) --configfile smoke.yaml
	@cd smoke && PYTHONPATH=../src:../workflow ../$(VENV)/bin/python -m lib.claims_table results/summary/claims.csv
	@echo; echo "Smoke run, no evidence. Figures: $(CURDIR)/smoke/figures"
	@echo "Report: $(CURDIR)/smoke/results/report/index.html"

test: $(INSTALLED)
	$(VENV)/bin/python -m pytest -n auto -m "not slow"

test-slow: $(INSTALLED)
	$(VENV)/bin/python -m pytest -n auto

lint: $(INSTALLED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/snakefmt --no-format-shell --check Snakefile workflow
	$(SNAKEMAKE) --lint

# The submission; ANONYMOUS=1 leaves the authors out.
archive: all
	PYTHONPATH=src:workflow $(VENV)/bin/python -m lib.archive . $(if $(ANONYMOUS),--anonymous)

clean:
	rm -rf results figures logs smoke .snakemake
