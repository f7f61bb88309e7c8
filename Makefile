# Everything runs in .venv, which `.ci/install` makes on first need for the Python that the machine
# has: `make demo` with the runtime requirements, to which other targets add the development
# requirements. PYTHON=python3.10 names another interpreter; TENSORFLOW=2.15 or 2.21 names a lock and
# runs in an environment beside, such as .venv-2.21.
PYTHON ?=
TENSORFLOW ?=
VENV := .venv$(if $(TENSORFLOW),-$(TENSORFLOW))
BEAM := .venv-beam
DOCS := .venv-docs
BIN := $(VENV)/bin
DEMO := demo
INSTALL = GOAL="$(or $(MAKECMDGOALS),install)" PYTHON="$(PYTHON)" TENSORFLOW="$(TENSORFLOW)" sh .ci/install
# One process more than processors: tests of killed and restarted commands mostly wait. A process that
# crashes fails the run: with another in its place pytest may wait forever.
WORKERS = $$($(BIN)/python -c 'import os; print(min(4, os.cpu_count() + 1))')
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist=loadfile --max-worker-restart=0

# The part that finds most in a minute or two: operations, layers, a training with resuming, export,
# release.
LOOP := tests/training/test_loop.py::test_a
QUICK := tests/addons tests/common/test_keras_version.py tests/ops/*.py tests/ops/native/test_runtime.py \
  tests/layers/test_convolution.py tests/layers/test_dense_convolution.py tests/layers/test_contract.py \
  tests/serving/test_released_models.py \
  $(LOOP)_killed_run_resumes_to_the_bits_of_an_unbroken_one \
  $(LOOP)_moving_average_serves_evaluation_only \
  tests/serving/export/test_saved_model.py::test_text_model_equals_the_trained_one_without_our_package

.PHONY: install install-beam install-docs demo docs tutorials test test-quick test-keras3 test-all test-beam faults mutations \
  lint locks wheel clean

install:
	@$(INSTALL) $(VENV) -r requirements-dev.txt

demo:
	@$(INSTALL) $(VENV)
	@echo "Training DiSAN on synthetic reviews and exporting it takes about a minute."
	$(BIN)/python -m data_prep.synthetic.treebank --data_dir=$(DEMO)/data
	$(BIN)/python run.py --config=configs/demo.py --data_dir=$(DEMO)/data --workdir=$(DEMO)/run
	$(BIN)/python run.py --mode=evaluate --baseline --data_dir=$(DEMO)/data --workdir=$(DEMO)/run
	$(BIN)/python run.py --mode=export --workdir=$(DEMO)/run
	$(BIN)/python -m disan_tf.serving.export.client --model=$(DEMO)/run/saved_model \
	  "the film is not dull ." "the plot is superb , but the acting is awful ." \
	  "the plot is awful , but the acting is superb ."
	@echo "What next:"
	@echo "  curves:         $(BIN)/tensorboard --logdir $(DEMO)/run/tensorboard"
	@echo "  your sentences: echo 'the film is dull .' | $(BIN)/python run.py --mode=predict --workdir=$(DEMO)/run"
	@echo "  your own table: data_prep/OWN_TABLE.md leads from a CSV file to a model in five commands"

test: install
	$(PYTEST)

test-quick: install
	$(PYTEST) $(QUICK)

# The layers and encoders as native Keras 3 (TENSORFLOW=2.21); the two ignored files train.
test-keras3: install
	DISAN_TF_KERAS=3 $(PYTEST) tests/keras3 tests/layers tests/encoders \
	  --ignore=tests/layers/heads/test_dsa_head.py --ignore=tests/encoders/test_custom.py

test-all: install
	$(PYTEST) -m "slow or not slow"

# Apache Beam and tensorflow-hub pull packages that TensorFlow's locks and ours do not.
install-beam:
	@$(INSTALL) $(BEAM) -r requirements-beam.txt -c requirements-dev.txt pytest pytest-timeout hypothesis

test-beam: install-beam
	$(BEAM)/bin/python -m pytest tests/serving/beam \
	  tests/serving/test_long_texts.py::test_a_keras_layer_of_hub_trains_it

# The site needs no TensorFlow: the API pages come from the source.
install-docs:
	@[ $(DOCS)/.installed -nt requirements-docs.txt ] || { \
	  "$(or $(PYTHON),python3)" -m venv --clear $(DOCS) && \
	  $(DOCS)/bin/python -m pip install --quiet -r requirements-docs.txt -c requirements-dev.txt && \
	  touch $(DOCS)/.installed; }

docs: install-docs
	$(DOCS)/bin/mkdocs build --strict

# Runs the tutorials, in several minutes, and stores their outputs in the notebooks.
tutorials:
	@$(INSTALL) .venv-tutorials nbclient==0.10.2 ipykernel==6.31.0 matplotlib pandas -c requirements-dev.txt
	.venv-tutorials/bin/python docs/run_tutorials.py

faults: install
	$(BIN)/python -m tests.measurements.failures.run_failures --output=faults.json
	$(BIN)/python -m tests.measurements.failures.fuzz_server --output=requests.json

# Changes the modules of mutations.toml in a copy of the last commit; prints what no test notices.
mutations: export PATH := $(abspath $(BIN)):$(PATH)
mutations: install
	rm -rf .mutations
	git clone --quiet . .mutations
	cd .mutations && set -e && config=tests/measurements/mutations.toml && \
	  cosmic-ray init $$config s.sqlite && cr-filter-operators s.sqlite $$config && \
	  cosmic-ray baseline $$config && cosmic-ray exec $$config s.sqlite && \
	  cr-report --show-diff --surviving-only s.sqlite

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	@sh .ci/audit $(BIN)/python

# Releases that a lock has stay: UPGRADE=--upgrade takes the newest of all, and
# UPGRADE="--upgrade-package pillow" of one.
LOCK = $(BIN)/uv --no-config --quiet pip compile --universal --generate-hashes --no-annotate \
  --no-emit-index-url --custom-compile-command "make locks" $(UPGRADE)

locks: install
	$(LOCK) --python-version 3.9 requirements.txt --output-file requirements.lock
	$(LOCK) --python-version 3.10 requirements-2.21.txt --output-file requirements-2.21.lock

# The source package, and the Linux wheel that needs no compiler, for both locks or for the one that
# TENSORFLOW names.
wheel:
	@PYTHON="$(PYTHON)" sh .ci/wheel $(or $(TENSORFLOW),2.15 2.21)

clean:
	rm -rf .venv .venv-* .mutations site $(DEMO) build dist
