#!/bin/sh
# run.sh [--report] [--cross] [OPTION ...]: builds the suite, measures the blog's loop here and prints its table beside the
# published ones. With --report it measures the grid too and writes a report; with --cross it measures natively and under
# the emulator of the other architecture, in turn. The other options go to the benchmark: run.sh --dir=/mnt/x, run.sh
# --quick, run.sh --help.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
results=$build/results
suite=$build/bench/gatherbench
out=$results/blog.json

# Our own options are taken out of "$@"; what only prints something needs no table.
report=
cross=
only_text=
count=$#
while [ "$count" -gt 0 ]; do
  option=$1
  shift
  count=$((count - 1))
  case $option in
    --report) report=yes ; continue ;;
    --cross) cross=yes ; continue ;;
    --benchmark_out=?*) out=${option#--benchmark_out=} ; continue ;;
    --help | --list | --dry-run | --version | --benchmark_list_tests*) only_text=yes ;;
  esac
  set -- "$@" "$option"
done

sh "$root/bench/setup.sh" ${cross:+--cross}

# A Python that comes first in PATH may lack the packages that Debian's has.
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy, scipy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "run.sh: no python3 with numpy and scipy was found" >&2
  exit 1
fi

# The architecture that this machine is not.
case $(uname -m) in
  x86_64) other=arm64 emulator=qemu-aarch64-static ;;
  *) other=x86_64 emulator=qemu-x86_64-static ;;
esac

build_suite() {
  if [ ! -f "$build/build.ninja" ]; then
    meson setup --buildtype=release -Dtests=false "$build" "$root" || return 1
  elif [ -n "$(find /var/lib/dpkg/status -newer "$build/build.ninja" 2>/dev/null)" ]; then
    # What was installed or removed since is not what Meson remembers.
    meson configure --clearcache "$build" && meson setup --reconfigure "$build" "$root" || return 1
  fi
  if [ -n "$cross" ]; then
    meson configure -Dcross_arch="$other" "$build" || return 1
  fi
  meson compile -C "$build"
}

echo "building in build/ ..." >&2
mkdir -p "$build"
log=$build/run.log
if ! build_suite >"$log" 2>&1; then
  cat "$log" >&2
  echo "run.sh: the build failed" >&2
  exit 1
fi

if [ -n "$only_text" ]; then
  exec "$suite" "$@"
fi

# Quotes words for a command in one string.
quoted() {
  for word in "$@"; do
    printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
  done
}

if [ -n "$cross" ]; then
  # Ten repetitions in each of ten launches: the launch is what is compared.
  command="--preset=blog --benchmark_repetitions=10$(quoted "$@")"
  folder=$results/cross-$other
  rm -rf "$folder"
  echo "measuring natively and under $emulator in turn ..." >&2
  "$python" "$root/results/alternate.py" --across=emulation --launches=10 --out-dir="$folder" \
    "$(quoted "$suite") $command" \
    "$emulator$(quoted "$build/cross-$other/bench/gatherbench") $command" >/dev/null || status=$?
  # 1 and 3 are verdicts of the comparison, which the table tells better.
  case ${status-0} in
    0 | 1 | 3) ;;
    *) exit "$status" ;;
  esac
  exec "$python" "$root/results/cross_table.py" "$folder"
fi

# Ctrl-C reaches the benchmark too, which keeps the repetitions that it has made: wait for it, and show them.
trap : INT HUP

# measure FILE OPTION...: runs the benchmark; where it leaves no results, those of an earlier run must not pass for its own:
# its status is 3 where nothing was measured, and the build's log is older than what it wrote.
measure() {
  file=$1
  shift
  status=0
  "$suite" "$@" --benchmark_out="$file" >/dev/null || status=$?
  if [ "$status" -eq 3 ] || [ -z "$(find "$file" -newer "$log" 2>/dev/null)" ]; then
    [ "$status" -ne 0 ] || status=1
    exit "$status"
  fi
}

echo "measuring ..." >&2
measure "$out" --preset=blog "$@"
"$python" "$root/results/blog_table.py" --published "$out" || [ "$status" -ne 0 ] || status=1
if [ -n "$report" ] && [ "$status" -lt 128 ]; then
  worst=$status
  echo "measuring the grid, about two minutes ..." >&2
  measure "$results/grid.json" --preset=grid "$@"
  [ "$worst" -eq 0 ] || status=$worst
  "$python" "$root/results/report.py" "$out" "$results/grid.json" -o "$results/report.html" || status=1
  echo "$results/report.html"
fi
exit "$status"
