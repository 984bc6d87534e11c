#!/bin/sh
# build.sh SOURCE FOLDER CROSSFILE STAMP [MESON-OPTION...]: the nested build: configures it once, then builds what has
# changed. Called by Meson.
set -eu

source=$1
folder=$2
crossfile=$3
stamp=$4
shift 4

[ -f "$folder/build.ninja" ] || meson setup "$folder" "$source" --cross-file "$crossfile" "$@"
meson compile -C "$folder"
: >"$stamp"
