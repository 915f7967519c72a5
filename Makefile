# `make install` is for who plays or runs a bot. `make demo` and `make test` each do all the set-up
# they need. `make help` lists all targets.
# Python and Stockfish come from the system. Everything else is installed into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

# `make install` puts the command into $(PREFIX)/bin.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)

# These files mark a complete set-up. If one of its lists is newer, make repeats the set-up.
LISTS := pyproject.toml obscuro/viewer/browser_parts/package-lock.json
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-test

LAST_PROOFS := docs/results/raw/proofs/last_run.json

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

# Tests start hundreds of processes. Without bytecode, each compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install uninstall wheel setup demo play test proofs warmup results pages docs dist sbom clean distclean

help:
	@echo 'make install    set up, and put the command obscuro into $(PREFIX)/bin'
	@echo 'make uninstall  take it away again'
	@echo 'make demo       set up, then watch the engine play'
	@echo 'make play       set up, then play against the engine in the browser'
	@echo 'make test       set up, then run every check: lint, format, types, layers, tests'
	@echo 'make proofs     set up, then run all that takes too long for that; PAGE=1 writes the page'
	@echo 'make setup      for developers: .venv with all packages, Stockfish, Chromium'
	@echo 'make warmup     compile the kernels now, so that the first game starts at once'
	@echo 'make results    run the commands of a page of docs/results again: PAGE=NAME [SECTION=NAME]'
	@echo 'make pages      render the pages of docs/results from their raw files'
	@echo 'make wheel      build the wheel into dist/, for pipx, uv or another machine'
	@echo 'make docs       build the documentation as a site into site/, and check its links'
	@echo 'make dist       build the sdist and the wheel into dist/'
	@echo 'make sbom       list in dist/ all packages that a release needs (CycloneDX)'
	@echo 'make clean      remove the files that checks and builds have made'
	@echo 'make distclean  remove these files and .venv'

# The link leads into this folder, which must stay where it is. A program of that name that is no
# link was put there by something else.
install: $(RUN_READY)
	@[ -L '$(PREFIX)/bin/obscuro' ] || [ ! -e '$(PREFIX)/bin/obscuro' ] || \
		{ echo 'install: $(PREFIX)/bin/obscuro is not ours; choose another place: make install PREFIX=DIR' >&2; exit 1; }
	@mkdir -p '$(PREFIX)/bin'
	@ln -sfn '$(CURDIR)/engine_bin/obscuro' '$(PREFIX)/bin/obscuro'
	@printf '\n=== compiling, so that the first game starts at once\n'
	@$(BIN)/obscuro warmup
	@echo 'Installed: $(PREFIX)/bin/obscuro. It runs from this folder, so keep the folder.'
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; \
		*) echo 'Your shell does not look there yet: put $(PREFIX)/bin on your PATH.';; esac

uninstall:
	@[ ! -L '$(PREFIX)/bin/obscuro' ] || rm '$(PREFIX)/bin/obscuro'

setup: $(DEV_READY)

demo: $(RUN_READY)
	@$(BIN)/obscuro demo

play: $(RUN_READY)
	@$(BIN)/obscuro web

warmup: $(RUN_READY)
	@$(BIN)/obscuro warmup

# Without PAGE, the tool says which pages there are. Times mean something on an idle machine only.
results: $(DEV_READY)
	@$(BIN)/python -m tools.results.remake $(PAGE) $(if $(SECTION),--section $(SECTION))

pages: $(DEV_READY)
	@$(BIN)/python -m tools.results.pages

# One worker for each core. The kernels are compiled before, or each worker would compile its own.
WORKERS := -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# How long each test took; `make results PAGE=tests` makes a page of it.
DURATIONS := .test-durations.xml

test: $(DEV_READY)
	@printf '\n=== 1/6 lint: ruff check\n'
	@$(BIN)/ruff check .
	@printf '\n=== 2/6 format: ruff format --check\n'
	@$(BIN)/ruff format --check .
	@printf '\n=== 3/6 types: mypy --strict\n'
	@$(BIN)/mypy --strict
	@printf '\n=== 4/6 layers: lint-imports\n'
	@$(BIN)/lint-imports --no-logo
	@printf '\n=== 5/6 kernels: obscuro warmup\n'
	@$(BIN)/obscuro warmup
	@printf '\n=== 6/6 tests: pytest\n'
	@$(BIN)/pytest $(WORKERS) --junitxml=$(DURATIONS)
	@printf '\n=== all checks passed\n'

# A proof that fails stops neither the others nor the page.
proofs: $(DEV_READY)
	@$(BIN)/python -m tools.proofs.all_proofs $(if $(PAGE),--raw $(LAST_PROOFS)); code=$$?; \
	$(if $(PAGE),$(BIN)/python -m tools.results.pages || code=1;) \
	exit $$code

FOR_PLAYERS := .[bridge,web]

# Players and bots need only the packages that they run with. The tests also need those of `dev`.
$(RUN_READY): $(LISTS) | $(BIN)/python
	$(call install_packages,'$(FOR_PLAYERS)')
	@touch $@

$(DEV_READY): $(LISTS) | $(BIN)/python
	$(call install_packages,'.[dev]',chromium,--dev)
	@touch $(RUN_READY) $@

# Two things make the set-up quick. Stockfish is installed while pip installs the packages. And pip
# compiles no modules, because Python compiles the few that are imported.
# $(1): what pip installs. $(2): `chromium` installs it after Stockfish; apt-get can't do both at once.
# $(3): for install_browser_parts.
define install_packages
@printf '\n=== set-up: Python packages into $(VENV), browser parts, Stockfish$(if $(2), and Chromium)\n'
@{ engine_bin/install_stockfish; found=$$?; \
	$(if $(2),engine_bin/install_chromium >$(VENV)/chromium.log 2>&1 || \
		echo 'WARNING: going on without Chromium; the tests in a browser are skipped' \
			>>$(VENV)/chromium.log;) \
	exit $$found; } >$(VENV)/stockfish.log 2>&1 & stockfish=$$!; \
	$(BIN)/python -m pip install --quiet --no-compile --editable $(1); packages=$$?; \
	wait $$stockfish; found=$$?; \
	cat $(VENV)/stockfish.log; \
	[ $$found -eq 0 ] || \
		echo 'WARNING: going on without Stockfish; the engine falls back on its material evaluator'; \
	$(if $(2),cat $(VENV)/chromium.log;) \
	exit $$packages
@engine_bin/install_browser_parts $(3) || \
	echo "WARNING: going on without the browser parts; \`obscuro web\` and \`show\` can't be used"
@engine_bin/export_network || \
	echo "WARNING: going on without Stockfish's network; the evaluator nnue can't be used"
endef

# Debian has a part of Python's venv module in a package of its own, python3-venv.
NO_VENV := set-up: $(PYTHON) cannot make virtual environments; run: sudo apt-get install python3-venv
TOO_OLD := set-up: Obscuro needs Python 3.11 or newer; run: make PYTHON=/path/to/python3
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(TOO_OLD)' >&2; exit 1; }
	@printf '\n=== set-up: virtual environment %s\n' '$(VENV)'
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		$(PYTHON) -m venv --clear $(VENV); \
	elif $(PYTHON) -m virtualenv --version >/dev/null 2>&1; then \
		$(PYTHON) -m virtualenv --quiet --clear $(VENV); \
	elif [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get -q update; \
		apt-get -q install -y --no-install-recommends python3-venv && \
		$(PYTHON) -m venv --clear $(VENV); \
	else \
		false; \
	fi || { rm -rf $(VENV); echo '$(NO_VENV)' >&2; exit 1; }

wheel: $(RUN_READY)
	@rm -rf build dist
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist

# A link that leads nowhere, or a page that the index lacks, ends it with an error.
docs: $(BIN)/python
	@$(BIN)/python -m pip install --quiet --no-compile --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# `build` makes the wheel from the sdist, so this also shows that the sdist is complete.
dist: $(DEV_READY)
	@rm -rf dist
	@$(BIN)/python -m build
	@ls -l dist

# The list is of what pip installs beside the program today, and of the browser parts in the lock.
SBOM := build/sbom
sbom: | $(BIN)/python
	@rm -rf $(SBOM)
	@mkdir -p dist
	@$(BIN)/python -m venv $(SBOM)/installed
	@$(BIN)/python -m venv $(SBOM)/lister
	@$(SBOM)/installed/bin/python -m pip install --quiet --no-compile '.[bridge,web]'
	@$(SBOM)/lister/bin/python -m pip install --quiet --no-compile 'cyclonedx-bom>=7.5'
	@$(SBOM)/lister/bin/cyclonedx-py environment $(SBOM)/installed --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-file dist/obscuro-fow.cdx.json
	@mkdir $(SBOM)/obscuro-browser-parts
	@cp obscuro/viewer/browser_parts/package*.json $(SBOM)/obscuro-browser-parts
	@cd $(SBOM)/obscuro-browser-parts && \
		npm version --no-git-tag-version --allow-same-version 0.0.0 >/dev/null && \
		npm sbom --package-lock-only --omit dev --sbom-format cyclonedx \
			>$(CURDIR)/dist/browser_parts.cdx.json
	@ls -l dist

clean:
	rm -rf $(DURATIONS) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) obscuro/viewer/browser_parts/files
