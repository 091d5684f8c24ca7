# Everything a developer does with deem. `make` alone lists the targets.

# In "make module PATH=..." PATH is the path of a module, not where programs are.
ifeq ($(origin PATH),command line)
MODULE := $(PATH)
override export PATH := $(HOME)/go/bin:/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin
endif

GO      ?= go
BIN     := bin/deem
TOOLS   := $(CURDIR)/.tools
PKGS    ?= ./...

# Tools are pinned: a new linter release must not turn an old commit red.
GOLANGCI_VERSION    := v2.14.0
GOFUMPT_VERSION     := v0.12.0
GOVULNCHECK_VERSION := v1.8.0
GOTESTSUM_VERSION   := v1.13.0
ACTIONLINT_VERSION  := v1.7.8

# How long each fuzz target runs, and what `make bench-go` measures.
FUZZTIME  ?= 30s
BENCH     ?= .
BENCHTIME ?= 1s

# How long `make soak-hour` lives with deem.
SOAKTIME ?= 1h

# How many sets of data `make coverage` draws for each row of its table.
DRAWS ?= 2000

# A package whose tests take longer hangs. The slowest machine we know of
# needs a tenth of it.
TESTTIME ?= 30m

# The version is stamped here, so the go command need not ask git, which
# refuses in a folder that belongs to somebody else.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)
DATE    := $(shell TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
STAMP   := -X deem/internal/cli.Version=$(VERSION) -X deem/internal/cli.Commit=$(COMMIT) -X deem/internal/cli.Date=$(DATE)
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -buildvcs=false)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## judge the bundled example offline, without a key, and print the report
	$(BIN) demo

.PHONY: site
site: build ## write the documentation as a static site into dist/site
	$(BIN) docs -o dist/site

# From an empty cache this compiles everything. Two settings save a fifth of the time: no
# tables for debuggers, which -s -w would only remove again, and a garbage collector that
# lets the compiler use more memory (1.3 GB at most).
.PHONY: build
build: ## build bin/deem, one static binary
	GOGC=400 CGO_ENABLED=0 $(GO) build -trimpath -gcflags=all=-dwarf=false -ldflags '-s -w $(STAMP)' -o $(BIN) ./cmd/deem

# In CI a skipped test is a failure unless .ci/skips.txt lists it or ../shared is missing.
.PHONY: verifier
verifier: ## build the verifier of "deem board build --verifier bin/verifier" for WebAssembly
	mkdir -p bin/verifier
	GOOS=js GOARCH=wasm $(GO) build -trimpath -ldflags '-s -w' -o bin/verifier/verifier.wasm ./cmd/verifier
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin/verifier/

.PHONY: test
test: $(TOOLS)/gotestsum ## run every test, and install what that needs
	scripts/need.sh cc clients postgres chromium python npm packagers
	scripts/minilm.sh $(TOOLS)/minilm
	scripts/llama-server.sh $(TOOLS)/llama
	scripts/axe.sh $(TOOLS)/axe
	scripts/test.sh $(TOOLS)/bin/gotestsum $(TOOLS)/test.json $(TESTTIME)
	cd tools/match && $(GO) test -timeout $(TESTTIME) .
	cd tools/bench && $(GO) test -timeout $(TESTTIME) .
	COVERAGE=150 $(GO) test -count=1 -timeout $(TESTTIME) -run '^TestCoverage$$' ./internal/agreement
	$(if $(filter-out false 0,$(CI)),scripts/skips.sh $(TOOLS)/test.json .ci/skips.txt)

# internal/ci tests documents and scripts, with a program that it builds.
.PHONY: quick
quick: ## run the unit tests, without Postgres, browser, race detector or downloads (two minutes)
	$(GO) test -short $$($(GO) list $(PKGS) | grep -v /internal/ci$$)

.PHONY: module
module: ## rename the Go module: make module PATH=example.org/you/deem
	@scripts/module.sh '$(MODULE)'

.PHONY: size
size: ## print how large deem is; COMMITS="A B" puts earlier commits beside it
	scripts/size.sh $(COMMITS)

.PHONY: lint
lint: lint-fmt lint-vet lint-arrows lint-shell lint-words lint-actions lint-go lint-vuln ## run every check that is not a test

.PHONY: lint-fmt
lint-fmt: $(TOOLS)/gofumpt ## is every file formatted?
	@echo gofumpt -l .
	@files=$$($(TOOLS)/bin/gofumpt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted (make fmt does it):"; echo "$$files"; exit 1; fi

.PHONY: lint-vet
lint-vet: ## go vet, the long tests too
	$(GO) vet -tags=soak $(PKGS)
	cd tools/match && $(GO) vet .
	cd tools/bench && $(GO) vet .

.PHONY: lint-arrows
lint-arrows: ## does every package import only what it may?
	$(GO) test -count=1 -run '^TestArrows' .

.PHONY: lint-shell
lint-shell: ## are the scripts sound?
	scripts/lint-shell.sh

.PHONY: lint-words
lint-words: ## are the finished documents in plain English?
	scripts/words.sh --docs

.PHONY: lint-actions
lint-actions: $(TOOLS)/actionlint ## are the workflows sound?
	$(TOOLS)/bin/actionlint .github/workflows/*.yml examples/ci/github.yml

.PHONY: lint-go
lint-go: $(TOOLS)/golangci-lint ## golangci-lint, as .golangci.yml says
	$(TOOLS)/bin/golangci-lint run $(PKGS)

.PHONY: lint-vuln
lint-vuln: $(TOOLS)/govulncheck ## does deem call code with a known vulnerability?
	scripts/vuln.sh $(TOOLS)/bin/govulncheck $(PKGS)

.PHONY: fmt
fmt: $(TOOLS)/gofumpt ## format every file
	$(TOOLS)/bin/gofumpt -l -w .

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	scripts/fuzz.sh $(FUZZTIME) $(PKGS)

.PHONY: soak
soak: soak-hour soak-long ## run the hour of faults, and then the other long tests (two hours)

# The hour measures sizes, so nothing else runs meanwhile. It has no timeout: what hangs
# in it ends it by itself.
.PHONY: soak-hour
soak-hour: ## live with faults for SOAKTIME (1h): nothing is lost, doubled or grows
	scripts/need.sh postgres
	SOAKTIME=$(SOAKTIME) $(GO) test -tags=soak -count=1 -v -run '^TestSoakHour$$' -timeout 0 ./cmd/deem

.PHONY: soak-long
soak-long: ## run the other long tests (up to an hour)
	$(GO) test -tags=soak -count=1 -v -run Soak -skip '^TestSoakHour$$' -timeout 60m $(PKGS)

.PHONY: coverage
coverage: ## simulate how often intervals hold and tests err, and write docs/design/coverage.md (an hour or more; ROWS='30 clusters' measures some rows again)
	COVERAGE=$(DRAWS) COVERAGE_KEEP=$(CURDIR)/bin/coverage.json COVERAGE_PAGE=$(CURDIR)/docs/design/coverage.md $(GO) test -v -count=1 -timeout 5h -run '^TestCoverage$$|^TestUntilStopsFalsely$$' ./internal/agreement

.PHONY: bench
bench: build ## measure deem against a bare loop, and check the targets (ten to twenty minutes)
	cd tools/bench && $(GO) build -trimpath -o ../../bin/bench .
	bin/bench -check $(BENCHFLAGS)

.PHONY: bench-peers
bench-peers: build ## measure deem and two other tools from npm (ten minutes, and 2 GB for a while)
	scripts/need.sh clients npm
	tools/bench/peers/peers.py $(PEERS)

.PHONY: release
release: ## build everything that a release has into dist/ (RELEASEFLAGS="--only linux-amd64" for one platform)
	scripts/release.py --out dist $(RELEASEFLAGS)

.PHONY: release-check
release-check: ## build a release twice in different folders, and look at all of it (minutes)
	$(GO) test -tags=soak -count=1 -v -run '^TestSoakRelease$$' -timeout 60m ./internal/ci

.PHONY: publish
publish: ## put the addresses of publish.env where readers look for them
	scripts/publish.sh write

.PHONY: publish-check
publish-check: ## is every address set that a published deem needs?
	scripts/publish.sh check

.PHONY: match-model
match-model: ## fit the model of match to the labelled items in DATA=FILE
	@test -n "$(DATA)" || { echo "make match-model needs DATA=FILE, a .jsonl or .jsonl.gz of labelled items"; exit 2; }
	cd tools/match && $(GO) run . -fit $(abspath $(DATA)) -out ../../internal/evidence/model.json

.PHONY: bench-match
bench-match: ## measure match against the labelled items under DATA=FOLDER
	@test -n "$(DATA)" || { echo "make bench-match needs DATA=FOLDER, which holds the labelled items"; exit 2; }
	cd tools/match && $(GO) run . -data $(abspath $(DATA)) -out RESULTS.md

.PHONY: bench-go
bench-go: ## run the benchmarks that BENCH names (all), BENCHTIME each (1s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -timeout 60m $(PKGS)

.PHONY: tools
tools: $(TOOLS)/golangci-lint $(TOOLS)/gofumpt $(TOOLS)/govulncheck $(TOOLS)/gotestsum $(TOOLS)/actionlint ## build the pinned tools

.PHONY: clean
clean: ## remove what was built, but not the tools
	rm -rf bin

# A tool is built once per version of it and of Go, because a linter built by
# an older Go refuses a newer module. The stamp carries both; the plain name is
# what other targets depend on.
GOVERSION := $(shell $(GO) env GOVERSION)

define tool
.PHONY: $(TOOLS)/$(1)
$(TOOLS)/$(1): $(TOOLS)/$(1)-$(2)-$(GOVERSION).stamp

$(TOOLS)/$(1)-$(2)-$(GOVERSION).stamp:
	@mkdir -p $(TOOLS)/bin
	@rm -f $(TOOLS)/$(1)-*.stamp
	GOFLAGS= CGO_ENABLED=0 GOBIN=$(TOOLS)/bin $(GO) install $(3)@$(2)
	@touch $$@
endef

$(eval $(call tool,golangci-lint,$(GOLANGCI_VERSION),github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,gofumpt,$(GOFUMPT_VERSION),mvdan.cc/gofumpt))
$(eval $(call tool,govulncheck,$(GOVULNCHECK_VERSION),golang.org/x/vuln/cmd/govulncheck))
$(eval $(call tool,actionlint,$(ACTIONLINT_VERSION),github.com/rhysd/actionlint/cmd/actionlint))
$(eval $(call tool,gotestsum,$(GOTESTSUM_VERSION),gotest.tools/gotestsum))
