# The front door: `make` configures and builds, `make help` lists the rest.
# Each target is a preset of CMakePresets.json or a script of tools/, nothing more.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PRESET ?= dev
PREFIX ?= /usr/local
CTEST = ctest --output-on-failure --no-tests=error

.PHONY: all run test check asan tsan coverage lint fmt bench docs install dist ci torture soak mutants \
        fuzz aarch64 clean help

all: ## configure and build (PRESET=dev)
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) -j $(JOBS)

run: ## set up, build, and compact real input: the demonstration of the README
	sh tools/run.sh

test: ## set up, build, and run every check of tools/ci.sh: the second command of the README
	sh tools/test.sh

check: all ## the tests of one build (PRESET=dev)
	$(CTEST) --test-dir build/$(PRESET) -j $(JOBS) -LE lint

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) check PRESET=asan

tsan: ## the tests with threads under ThreadSanitizer
	$(MAKE) all PRESET=tsan
	$(CTEST) --test-dir build/tsan -j $(JOBS) -L "threads|base|io"

coverage: ## the tests with line coverage, table in build/coverage/coverage.txt
	$(MAKE) check PRESET=coverage
	sh tools/coverage.sh build/coverage

lint: all ## layers, exports, headers, documents, sizes, words, format, clang-tidy
	$(CTEST) --test-dir build/$(PRESET) -j $(JOBS) -L lint

fmt: ## format all C files in place
	git ls-files -z '*.c' '*.h' '*.cc' '*.hh' | xargs -0 clang-format -i

bench: ## build the benchmarks and run the first workload
	$(MAKE) all PRESET=bench
	bench/run --workload W1 --codec lz4 --div 40

docs: all ## write docs/options.md and the man page anew from the program's tables
	sh tools/docs.sh build/$(PRESET)

install: ## install under PREFIX, default /usr/local (DESTDIR is respected)
	$(MAKE) all PRESET=release
	cmake --install build/release --prefix $(PREFIX)

dist: ## build the Debian package and the source archive into dist/
	sh tools/dist.sh

ci: ## every check, as .ci/run has it; expects the tools to be there
	sh tools/ci.sh

torture: ## the property tests at 50 times their size, faults at full width, deep analysis, soaks, 500 kills
	cmake --preset dev -B build/torture -DSINTER_TEST_TIMEOUT=36000
	cmake --build build/torture -j $(JOBS)
	SINTER_TEST_SCALE=50 $(CTEST) --test-dir build/torture -L "property|fault|merge|compact"
	$(MAKE) asan
	python3 tests/lint/check_tidy.py clang-tidy build/torture --deep
	SINTER_TEST_SCALE=8 $(CTEST) --test-dir build/torture -L interop
	python3 tests/interop/random_tables.py build/torture/src/cli/sinter build/torture/random --seeds 1-300
	python3 tests/interop/written_tables.py build/torture/src/cli/sinter build/torture/written --seeds 1-100
	$(MAKE) soak

soak: ## ten minutes of bench/soak under each sanitizer, on files and in memory, and 500 kills
	bench/soak/run --preset asan soak --seconds 600
	bench/soak/run --preset tsan soak --seconds 600
	bench/soak/run --preset asan soak --seconds 600 --memory-backend yes
	bench/soak/run --preset dev crash --kills 500

mutants: ## seed one-line faults; each must turn the tests red
	python3 tools/mutants.py

fuzz: ## run every fuzz target (FUZZ_SECONDS=60 each)
	sh tools/fuzz.sh

aarch64: ## cross-build for 64-bit ARM and run the golden tests under qemu-user
	sh tools/aarch64.sh

clean: ## remove everything that was built
	rm -rf build dist

help: ## list the targets
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12
