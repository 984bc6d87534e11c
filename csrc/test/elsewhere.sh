#!/bin/sh
# elsewhere.sh COMPILER-COMMAND RUN|LINK CONFIG MACHINE: builds csrc and its smoke test, which needs no test library, with another
# compiler, warnings as errors; RUN runs it too. CONFIG is a config.h, whose HAVE_ macros are found out anew. MACHINE is
# machine.py, which finds out whether such a program can run here. Exits with 77, which Meson takes for skipped, where it
# cannot, or where there is no such compiler.
set -eu

compiler=$1
action=$2
config=$3
machine=$4
csrc=$(cd "$(dirname "$0")/.." && pwd)

if ! command -v "${compiler%% *}" >/dev/null; then
  echo "SKIPPED: $(basename "${compiler%% *}") is missing"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"

# A function is there if a header declares it and a program that names it links.
headers=$(printf '#include <%s>\n' fcntl.h stdio.h sys/mman.h sys/uio.h unistd.h)
sed -n 's/^#define HAVE_\([A-Z0-9_]*\) .*/\1/p' "$config" | while read -r macro; do
  function=$(echo "$macro" | tr '[:upper:]' '[:lower:]')
  printf '%s\nint main(void) { return &%s == 0; }\n' "$headers" "$function" >"$folder/has.c"
  has=0
  # The compiler command is several words.
  # shellcheck disable=SC2086
  $compiler -w -D_GNU_SOURCE -D_DARWIN_C_SOURCE -o "$folder/has" "$folder/has.c" 2>/dev/null && has=1
  echo "#define HAVE_$macro $has"
done >"$folder/config.h"
echo '#define GATHERBENCH_COMPILER_FLAGS "-O2"' >>"$folder/config.h"

# shellcheck disable=SC2086
$compiler -std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -D_DARWIN_C_SOURCE -D_FILE_OFFSET_BITS=64 -I"$folder" -I"$csrc" \
  -o "$folder/smoke" "$csrc"/*.c "$csrc/test/smoke.c" -lpthread
case $action in
  RUN)
    echo 'int main(void) { return 0; }' >"$folder/nothing.c"
    # shellcheck disable=SC2086
    $compiler -o "$folder/nothing" "$folder/nothing.c"
    python3 "$machine" runs "$folder/nothing"
    "$folder/smoke" ;;
  LINK) echo "linked; not run, for this is another system" ;;
esac
