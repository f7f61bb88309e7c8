# Everything runs in .venv, which is made on first need. PYTHON picks the interpreter, and
# TENSORFLOW=2.19 the newest TensorFlow, in .venv-2.19.
PYTHON ?= python3
TENSORFLOW ?= 2.15
ifeq ($(TENSORFLOW),2.15)
VENV := .venv
REQUIREMENTS := requirements.txt
PYTHONS := 3.9 3.10 3.11
else ifeq ($(TENSORFLOW),2.19)
VENV := .venv-2.19
REQUIREMENTS := requirements-2.19.txt
PYTHONS := 3.9 3.10 3.11 3.12
else
$(error TENSORFLOW=$(TENSORFLOW) must be 2.15 or 2.19)
endif
BIN := $(VENV)/bin
DEMO := demo
# One process more than processors: tests of killed and restarted commands mostly wait. A process that
# crashes fails the run: with another in its place pytest may wait forever.
WORKERS = $$($(BIN)/python -c 'import os; print(min(4, os.cpu_count() + 1))')
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist=loadfile --max-worker-restart=0

# What tells most in a minute or two: operations, layers, a training with resuming, export, release.
LOOP := tests/training/test_loop.py::test_a
QUICK := tests/addons tests/test_legacy_keras.py tests/ops/*.py tests/ops/native/test_runtime.py \
  tests/layers/convolution tests/layers/test_contract.py tests/serving/test_released_models.py \
  $(LOOP)_killed_run_resumes_to_the_bits_of_an_unbroken_one \
  $(LOOP)_moving_average_serves_evaluation_only \
  tests/serving/test_saved_model.py::test_text_model_equals_the_trained_one_without_our_package

.PHONY: install demo demo-train test test-quick test-all faults lint clean

install: $(VENV)/.installed

$(VENV)/.installed: $(REQUIREMENTS) requirements-dev.txt requirements-beam.txt
	@$(PYTHON) -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split())' || \
	  { echo "disan_tf on TensorFlow $(TENSORFLOW) needs one of Python $(PYTHONS), and $(PYTHON) is $$($(PYTHON) --version 2>&1): say which with make PYTHON=python3.11." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS) -r requirements-dev.txt
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

test-quick: install
	$(PYTEST) $(QUICK)

test-all: install
	$(PYTEST) -m "slow or not slow"

faults: install
	$(BIN)/python -m tests.measurements.failures.run_failures --output=faults.json

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

clean:
	rm -rf .venv .venv-2.19 $(DEMO)
