# Every target needs Go, a C compiler (for the race detector) and make.

FUZZTIME    ?= 10s
STATICCHECK ?= go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODULES     := . examples/plain

.PHONY: help run serve build test lint cover fuzz bench examples soak canary npm

## help: this list
help:
	@awk -F ': ' '/^## /{ name = substr($$1, 4); sub(/^[^:]*: /, ""); printf "make %-10s %s\n", name, $$0 }' $(MAKEFILE_LIST)

## run: the demo agent asks, the pipeline decides, the tools really run
run:
	@go run ./cmd/assent run --demo --on-pending allow </dev/null

## serve: the daemon with the demo agent; it says where its page is
serve:
	@go run ./cmd/assent serve --demo

## build: the command, into bin/
build:
	go build -o bin/assent ./cmd/assent

## test: everything, with the race detector
test:
	@set -e; for m in $(MODULES); do (cd $$m && go test -race ./...); done

## lint: formatting, vet for every platform, staticcheck
lint:
	@files=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	@set -e; for os in linux darwin windows; do echo "vet $$os"; GOOS=$$os CGO_ENABLED=0 go vet ./...; done
	@set -e; for m in $(MODULES); do (cd $$m && $(STATICCHECK) ./...); done
	@set -e; for m in $(MODULES); do (cd $$m && go mod tidy -diff); done

## cover: every function of pipeline, stages and dialects is covered
cover:
	@said=$$(go test -coverprofile=cover.out -coverpkg=./pipeline/...,./stages/...,./dialects/... ./pipeline/... ./stages/... ./dialects/... ./internal/replay/... 2>&1) || { echo "$$said"; exit 1; }
	@go tool cover -func=cover.out | awk '$$NF == "0.0%" { print "not covered: " $$1 " " $$2; bad = 1 } { total = $$NF } END { print "statements " total; exit bad }'

## fuzz: each fuzz target for FUZZTIME
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
		done; \
	done

## bench: every figure as a ratio, measured in this run
bench:
	@go test -run '^$$' -bench '^BenchmarkRatio' -benchtime 1x -p 1 ./... > bench.out; status=$$?; \
	grep -E '^ratio |misses' bench.out; [ $$status = 0 ] || grep -q misses bench.out || cat bench.out; rm -f bench.out; exit $$status

## examples: run those that are programs; the others are tests
examples:
	@cd examples/plain && go run .
	@go run ./examples/fx

## soak: the demo agent at full speed, with kills and cancels, for ten minutes (SOAK=2m make soak is shorter)
soak:
	@go run ./internal/soak/cmd

## canary: planted secrets are found nowhere, and are found when any one redaction is taken away
canary:
	@CANARY_OVERLAYS=1 go test -count=1 -timeout 30m ./internal/canary

## npm: the packages that tests with other MCP programs need, into the user's cache folder
npm:
	@set -e; dir=$${XDG_CACHE_HOME:-$$HOME/.cache}/assent-test; mkdir -p "$$dir"; \
	cp internal/host/serve/testdata/npm/package.json internal/host/serve/testdata/npm/package-lock.json "$$dir"; \
	cd "$$dir"; npm ci --ignore-scripts --no-audit --no-fund
