# The commands of this repository. Each sets up what it needs in .venv, once.
#   make demo [PORT=8899]       JupyterLab on a notebook with a cluster to watch
#   make test [SUITES="…"]      every test: kernel, cluster, proxy, jest, packaging, ui
#   make lint | bench | pictures | clean

# The first Python that is new enough; another one: make demo PYTHON=/path/to/python3
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$python" && break; done)

export PORT SUITES CHROMIUM_PATH

.PHONY: help demo test lint bench pictures clean python

help:
	@sed -n '2,4s/^# //p' Makefile

demo: python
	@"$(PYTHON)" scripts/demo.py

test: python
	@"$(PYTHON)" scripts/suites.py

lint: python
	@"$(PYTHON)" scripts/lint.py

bench: python
	@"$(PYTHON)" scripts/bench.py $(BENCH)

pictures: python
	@"$(PYTHON)" scripts/pictures.py

clean:
	rm -rf .make build dist lib node_modules ui-tests/node_modules dask_diag_lab/labextension *.egg-info

python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11 or newer was not found."; \
		echo "    Run:  sudo apt install python3 python3-venv   (or: make demo PYTHON=/path/to/python3)"; \
		exit 1; fi
