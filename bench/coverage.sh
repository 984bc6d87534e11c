#!/bin/sh
# coverage.sh FOLDER: builds into FOLDER with gcc's counters, runs tests, and says which lines and branches of
# csrc, of bench and of results they reached: in short in FOLDER/summary.txt, with every line that was missed in
# FOLDER/csrc.txt and so on. Exits non-zero if a test fails, or if that is less than 90 % of the lines of csrc, or of
# the lines and branches of results together.
set -eu

folder=$1
cd "$(dirname "$0")/.."
root=$(pwd)
rm -rf "$folder"
meson setup "$folder" --buildtype=debug -Db_coverage=true -Dc_args=-fprofile-update=atomic \
  -Dcpp_args=-fprofile-update=atomic
meson compile -C "$folder"
folder=$(cd "$folder" && pwd)

# Each Python that a test starts is measured, the scripts that the tests run as programs too.
mkdir "$folder/python"
echo 'import coverage; coverage.process_startup()' >"$folder/python/sitecustomize.py"
cat >"$folder/python/settings" <<END
[run]
branch = true
parallel = true
data_file = $folder/python/data
source = $root/results
omit = $root/results/test/*
[report]
precision = 1
END
status=0

# Not the tests that kill or limit programs: counters that are cut short while they are written are lost.
COVERAGE_PROCESS_START=$folder/python/settings PYTHONPATH=$folder/python \
  meson test -C "$folder" --timeout-multiplier=10 --suite=coverage --no-suite=slow || status=1
python3-coverage combine --quiet --rcfile="$folder/python/settings"

# sources NAME OPTION...: the coverage of the C and C++ sources in one folder, without its tests.
sources() {
  name=$1
  shift
  gcovr --root "$root" --object-directory "$folder" --filter "$root/$name/" --exclude '.*/test/' \
    --exclude-throw-branches --txt "$folder/$name.txt" --print-summary "$@" "$folder" >"$folder/gcovr.txt" || status=1
  sed -n "s/^\(lines\|branches\)/$name: \1/p" "$folder/gcovr.txt" >>"$folder/summary.txt"
}

sources csrc --fail-under-line=90
sources bench
python3-coverage report --rcfile="$folder/python/settings" --show-missing --fail-under=90 >"$folder/results.txt" ||
  status=1
awk '/^TOTAL/ { printf "results: lines: %.1f%%; lines and branches together: %s\n", 100 * ($2 - $3) / $2, $6 }' \
  "$folder/results.txt" >>"$folder/summary.txt"
cat "$folder/summary.txt"
exit $status
