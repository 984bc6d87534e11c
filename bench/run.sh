#!/bin/sh
# run.sh [OPTION ...]: builds the suite, measures the blog's loop here and prints its table beside the published ones.
# The options go to the benchmark: run.sh --dir=/mnt/x, run.sh --quick, run.sh --help.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
out=$build/results/blog.json
only_text=
for option in "$@"; do
  case "$option" in
    --benchmark_out=?*) out=${option#--benchmark_out=} ;;
    --help | --list | --dry-run | --version | --benchmark_list_tests*) only_text=yes ;;
  esac
done

sh "$root/bench/setup.sh"

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

echo "building in build/ ..." >&2
mkdir -p "$build"
log=$build/run.log
if ! { [ -f "$build/build.ninja" ] || meson setup --buildtype=release "$build" "$root"; } >"$log" 2>&1 ||
  ! meson compile -C "$build" >>"$log" 2>&1; then
  cat "$log" >&2
  echo "run.sh: the build failed" >&2
  exit 1
fi

suite=$build/bench/gatherbench
if [ -n "$only_text" ]; then
  exec "$suite" "$@"
fi

# A run that fails early leaves no results, and those of an earlier run must not pass for its own.
rm -f "$out"
echo "measuring ..." >&2
status=0
"$suite" --preset=blog --benchmark_out="$out" "$@" >/dev/null || status=$?
[ -f "$out" ] || exit "$status"
table=0
"$python" "$root/results/blog_table.py" --published "$out" || table=$?
[ "$status" -ne 0 ] || status=$table
exit "$status"
