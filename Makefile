# bergline: see README.md. Every target sets up what it needs first (tools/setup.sh).
PREFIX ?= /usr/local
BUILD := build

.PHONY: all setup demo check check-all bench install clean format

all: setup
	@tools/build.sh $(BUILD)
	@echo "built $(BUILD)/bergline"

setup:
	@tools/setup.sh

demo: all
	@tools/demo.sh

check: setup
	@tools/build.sh $(BUILD)
	@tools/test.sh $(BUILD)

check-all:
	@tools/setup.sh all
	@tools/check_all.sh

bench: all
	@bench/run.sh

install: setup
	@tools/build.sh $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed in $(DESTDIR)$(abspath $(PREFIX))"

format:
	@git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

clean:
	@rm -rf build build-*
