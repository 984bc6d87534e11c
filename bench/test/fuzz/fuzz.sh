#!/bin/sh
# fuzz.sh FUZZER CORPUS DICTIONARY: fuzzes for $FUZZ_SECONDS (60); an input that fails is left in the working folder.
set -eu

found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
"$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=512 -max_len=4096 -close_fd_mask=2 \
  -dict="$3" -print_final_stats=1 "$found" "$2"
