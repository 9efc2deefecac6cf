# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A thin face over CMakePresets.json: each target installs what it needs (scripts/setup) and then
# builds in build/PRESET. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
CTEST_ARGS ?=
COVERAGE_ARGS ?=
BENCH_ARGS ?=
ARCH :=
STAGE :=
N := 1000
MINUTES ?= 1

# $(call build,PRESET): CMake is asked to configure only when there is nothing to build from or the
# presets changed; a changed CMakeLists.txt is ninja's business.
define configure
@test build/$(1)/build.ninja -nt CMakePresets.json || cmake --preset $(1)
endef
define build
$(configure)
@cmake --build --preset $(1)
endef
define test
$(build)
@ctest --preset $(1) -j $(JOBS) $(CTEST_ARGS)
endef

.PHONY: all
all: ## build the library and perf2dat in build/release (the default)
	@scripts/setup build
	$(call build,release)

.PHONY: demo
demo: all ## record with perf, convert and show the result in trace-cmd
	@scripts/setup demo
	@scripts/demo build/release/converter/perf2dat

.PHONY: check
check: ## build and run all tests that need no virtual machine (CTEST_ARGS='-R name' picks some)
	@scripts/setup test
	$(call test,dev)

.PHONY: check-clang
check-clang: ## the same, built with clang
	@scripts/setup clang
	$(call test,clang)

.PHONY: sanitize
sanitize: ## the same with clang, under the address and undefined behaviour sanitizers
	@scripts/setup sanitize
	$(call test,asan)

.PHONY: lint
lint: ## check formatting, static analysis, scripts and licence lines
	@scripts/setup lint
	$(call configure,dev)
	@scripts/lint

.PHONY: verify
verify: ## check, kernelshark, litmus, oss-fuzz, and guests of four architectures (ARCH='host s390x' STAGE=unit: a part)
	@scripts/setup test
	@scripts/verify $(if $(ARCH),--arch $(ARCH)) $(if $(STAGE),--stage $(STAGE))

.PHONY: ci
ci: ## lint, sanitize, a short fuzz and verify, up to the first that fails
	@for stage in lint sanitize 'fuzz MINUTES=0.2' verify; do \
	  echo "== $$stage"; start=$$(date +%s); \
	  $(MAKE) --no-print-directory $$stage && result=passed || result=FAILED; \
	  echo "== $$stage $$result after $$(($$(date +%s) - start)) s"; \
	  test $$result = passed || exit 1; \
	done

.PHONY: props
props: ## try each property N (1000) times
	@scripts/setup test
	$(call build,dev)
	@RC_PARAMS=max_success=$(N) ctest --preset dev -L props -V -j $(JOBS) --timeout 360000 \
	  >build/props.log 2>&1; status=$$?; \
	  grep -vE '^(test [0-9]|UpdateC|Constructing|Checking|$$)' build/props.log; exit $$status

.PHONY: fuzz
fuzz: ## look for inputs that break something, for MINUTES (1) with each fuzz target
	@scripts/fuzz-campaign --minutes $(MINUTES) --jobs $(JOBS)

.PHONY: fuzz-coverage
fuzz-coverage: ## tell which lines of the parsers the kept corpus reaches; in detail in build/fuzz-coverage/html
	@scripts/setup fuzz-coverage
	$(call build,fuzz-coverage)
	@scripts/fuzz-coverage build/fuzz-coverage

.PHONY: bench
bench: ## compare speed and memory with cat and perf's own commands (BENCH_ARGS='--help')
	@scripts/setup bench
	$(call build,bench)
	@cmake --build --preset bench --target repeat_recording perf_data_twin
	@build/bench/converter/bench/pieces_benchmark
	@scripts/bench build/bench $(BENCH_ARGS)

.PHONY: kernelshark
kernelshark: ## open converted recordings in KernelShark; its pictures are in build/kernelshark
	@scripts/setup kernelshark
	$(call build,release)
	@converter/tests/kernelshark/open_in_kernelshark build/release/converter/perf2dat \
	  build/kernelshark

# What CMake has of the series for the kernel; $@ is the target's name there, too.
define target
@scripts/setup test
$(call configure,dev)
@cmake --build --preset dev --target $@
endef

.PHONY: kernel-series
kernel-series: ## write the series for the kernel as mail, to build/kernel-series
	$(target)

.PHONY: kernel-check
kernel-check: ## build each commit of the series and have it checked by the kernel's own tools
	@scripts/kernel-series --check

.PHONY: litmus
litmus: ## check the series' memory ordering by the kernel's model
	$(target)

.PHONY: kernel-selftests
kernel-selftests: ## run the series' KUnit suites and selftests in all guests (kernel-s390x: build a kernel)
	$(target)

KERNELS := $(patsubst vm/arch/%.toml,kernel-%,$(wildcard vm/arch/*.toml))
.PHONY: $(KERNELS)
$(KERNELS):
	$(target)

.PHONY: golden
golden: all ## record golden/ anew in guests, for a person to judge (ARCH=s390x: a part)
	@scripts/setup test
	@scripts/golden record build/release/converter/perf2dat $(if $(ARCH),--arch $(ARCH))

.PHONY: coverage
coverage: ## run the tests, print each file's line coverage, and demand 95 % of the two formats
	@scripts/setup coverage
	$(call build,coverage)
	@find build/coverage -name '*.gcda' -delete
	@ctest --preset coverage -j $(JOBS) $(CTEST_ARGS)
	@scripts/coverage --min converter/perfdata=95 --min converter/tracedat=95 $(COVERAGE_ARGS) \
	  build/coverage

.PHONY: format
format: ## bring all C++ sources into shape, in place
	@scripts/setup format
	@git ls-files -z -co --exclude-standard '*.h' '*.cc' '*.cpp' ':!kernel/tree/' | \
	  xargs -0 -r clang-format -i

.PHONY: install
install: ## install the release build under PREFIX (default /usr/local; DESTDIR is honoured)
	@scripts/setup build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	@cmake --build --preset release
	@DESTDIR='$(DESTDIR)' cmake --install build/release

.PHONY: clean
clean: ## remove everything built
	@rm -rf build

.PHONY: help
help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | \
	  while IFS="$$(printf '\t')" read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done
