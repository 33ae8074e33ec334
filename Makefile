# For people. CMake does the work; tools/install-deps installs what is missing.
JOBS ?= $(shell nproc)
# tests run side by side, so each gets one thread; those about threads ask for more
TEST_THREADS = PLIANT_THREADS=1
.PHONY: all deps web python demo test docs deb wheel bundle asan tsan fuzz bench validate cookbook format tidy install clean

all: deps web
	@tools/build release -j $(JOBS)

deps:
	@tools/install-deps

# three.js for the page of `pliant serve`; without npm everything else is built all the same
# (make demo installs npm where that is possible)
web:
	@tools/install-web $(if $(filter demo,$(MAKECMDGOALS)),--need || true)

# the Python module, in build/python: PYTHONPATH=build/python python3 -c 'import pliant'
python: deps web
	@tools/install-deps python numpy
	@tools/build release -j $(JOBS) --target python_module

demo: all
	@tools/demo

test: deps web
	@tools/install-deps python numpy || echo "test: the Python module is not built, its tests are left out"
	@tools/build release -j $(JOBS)
	@tools/install-web --tests
	@cd build && $(TEST_THREADS) ctest --output-on-failure -j $(JOBS)

# the documentation as a site, in build/site; ends with an error where a link is dead
docs: all
	@tools/install-deps docs
	@tools/make-docs

# the four Debian packages, in build-deb
deb: deps web
	@tools/install-deps python numpy deb
	@tools/make-deb

# a wheel with its libraries inside, in build-wheel
wheel: deps web
	@tools/install-deps python numpy wheel
	@tools/make-wheel

# a folder that runs without anything installed, and its archive, in build-bundle
bundle: all
	@tools/install-deps wheel
	@tools/make-bundle

# allocations that cannot be met return NULL, as they do without the sanitizer: tests ask for them
asan: deps
	@tools/build asan -j $(JOBS)
	@cd build-asan && ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 LSAN_OPTIONS=suppressions=$(CURDIR)/tools/leaks.txt \
		$(TEST_THREADS) ctest --output-on-failure --timeout 6000 -j $(JOBS)

# the tests with more than one thread (label `threads`)
tsan: deps
	@tools/build tsan -j $(JOBS)
	@cd build-tsan && TSAN_OPTIONS=suppressions=$(CURDIR)/tools/races.txt:halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null=1 \
		$(TEST_THREADS) ctest -L threads --output-on-failure --timeout 6000 -j $(JOBS)

# FUZZ_SECONDS=N per target (default 60), FUZZ_TARGETS="robot vtu" for some of them
fuzz: deps
	@CC=clang tools/install-deps build core opened meshing server tests fuzz
	@tools/build fuzz -j $(JOBS) --target fuzz_programs
	@tools/fuzz build-fuzz $(FUZZ_TARGETS)

bench: all
	@tools/build release -j $(JOBS) --target bench_programs
	@tools/run-programs bench

# the commands of docs/howto/cookbook.md, compared with what the page shows; needs openscad
cookbook: all
	@tools/cookbook

validate: all
	@tools/build release -j $(JOBS) --target validation_programs
	@tools/run-programs validation

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

tidy: deps
	@tools/install-deps lint
	@cmake --preset dev >/dev/null
	@git ls-files 'src/*.c' 'app/*.c' | xargs clang-tidy -p build-dev --quiet

# PREFIX=DIR for another place than /usr/local
install: all
	@cmake --install build $(if $(PREFIX),--prefix "$(PREFIX)")
	@if [ -z "$(PREFIX)$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi

clean:
	@rm -rf build build-dev build-asan build-tsan build-fuzz build-deb build-wheel build-bundle
