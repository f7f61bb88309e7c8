# Everything runs in .venv, which is made on first need. PYTHON picks the interpreter.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses=4 --dist=loadfile

.PHONY: install demo demo-train test test-all lint clean

install: $(VENV)/.installed

$(VENV)/.installed: requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 11))' || \
	  { echo "disan_tf needs Python 3.9, 3.10 or 3.11, and $(PYTHON) is $$($(PYTHON) --version 2>&1): say which with make PYTHON=python3.11." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m disan_tf.ops.native.build
	@touch $@

demo: install
	$(BIN)/python -m data_prep.synthetic.treebank --data_dir=$(DEMO)/data
	$(BIN)/python run.py --config=configs/demo.py --data_dir=$(DEMO)/data --workdir=$(DEMO)/run
	$(BIN)/python run.py --mode=evaluate --data_dir=$(DEMO)/data --workdir=$(DEMO)/run
	$(BIN)/python -m data_prep.bag_of_words --data_dir=$(DEMO)/data
	$(BIN)/python run.py --mode=export --workdir=$(DEMO)/run
	$(BIN)/python -m disan_tf.serving.ask --saved_model=$(DEMO)/run/saved_model \
	  "the film is not dull ." "the plot is superb , but the acting is awful ." \
	  "the plot is awful , but the acting is superb ."
	@echo "TensorBoard logs: $(DEMO)/run/tensorboard (see them with $(BIN)/tensorboard --logdir $(DEMO)/run/tensorboard)"

test: install
	$(PYTEST)

test-all: install
	$(PYTEST) -m "slow or not slow"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) $(DEMO)
