# The gate. `make check` is what continuous integration runs; each step is a
# target of its own so that a failing one can be repeated alone.

# Every module of the workspace, as go.work names them.
MODULES := $(shell sed -n 's|^[[:space:]]*\./||p' go.work)

# A module that stays outside, as an application that pins only core would be.
OUTSIDE := examples/core-only

# staticcheck runs by version, outside every go.mod: a tool directive would put
# its dependencies into the module graph of whoever imports docket.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The cheap steps first, all tests last: the log then closes with what ran.
.PHONY: check
check: fmt vet lint tidy bench alone runner examples race ## The whole gate

.PHONY: fmt
fmt: ## gofmt changes nothing
	@out="$$(gofmt -l .)"; \
	if [ -n "$$out" ]; then echo "gofmt -w these:"; echo "$$out"; exit 1; fi

.PHONY: vet
vet: ## go vet over the workspace
	go vet work

.PHONY: lint
lint: ## staticcheck over the workspace
	go run $(STATICCHECK) $(MODULES:%=./%/...)
	cd $(OUTSIDE) && GOWORK=off go run $(STATICCHECK) ./...

.PHONY: tidy
tidy: ## go.mod and go.sum of every module say what they need, no more
	@set -e; for m in $(MODULES) $(OUTSIDE); do \
		echo "go mod tidy -diff: $$m"; (cd $$m && GOWORK=off go mod tidy -diff); \
	done

.PHONY: fix
fix: ## Let gofmt and go mod tidy put right what they can
	gofmt -w .
	@set -e; for m in $(MODULES) $(OUTSIDE); do (cd $$m && GOWORK=off go mod tidy); done

.PHONY: test
test: ## What README tells a newcomer to run
	go test work

# -count=1 for repotest: it reads files of other modules, which the test cache
# doesn't watch.
.PHONY: race
race: ## All tests under the race detector
	go test -race work
	go test -count=1 ./internal/repotest/...

# Without -race: the workspace run has it, and a plain run is what sees
# allocation limits and real timing.
.PHONY: alone
alone: ## Every module builds and passes its tests without the workspace
	@set -e; for m in $(MODULES) $(OUTSIDE); do \
		echo "alone: $$m"; \
		(cd $$m && GOWORK=off go build -o /dev/null ./... && GOWORK=off go test ./...); \
	done

.PHONY: runner
runner: ## Certify memory, SQLite and PostgreSQL, and SQLite through a pipe
	go build -o bin/conformance-runner ./cmd/conformance-runner
	bin/conformance-runner
	go build -o bin/agent ./examples/agent
	bin/conformance-runner --exec bin/agent
	@if .ci/have-postgres || [ -n "$$CI" ] || [ "$$DOCKET_REQUIRE_POSTGRES" = 1 ]; then \
		set -x; bin/conformance-runner --backend pgx; \
	else \
		echo "PostgreSQL isn't certified, there is none here: see CONTRIBUTING.md"; \
	fi

.PHONY: examples
examples: ## Run every example
	@set -e; for d in $$(dirname $$(grep -l "^package main" examples/*/main.go examples/*/*/main.go)); do \
		echo "go run ./$$d"; \
		case " $(OUTSIDE) " in \
		*" $$d "*) (cd $$d && GOWORK=off go run .) ;; \
		*) go run ./$$d </dev/null ;; \
		esac; \
	done

.PHONY: bench
bench: ## Every benchmark once: they must run, their figures mean nothing here
	go test -run '^$$' -bench . -benchtime 1x work
