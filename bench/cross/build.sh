#!/bin/sh
# build.sh SOURCE FOLDER CROSSFILE STAMP [MESON-OPTION...]: the nested build: configures it once, and again when packages
# have changed, then builds what has changed. Called by Meson.
set -eu

source=$1
folder=$2
crossfile=$3
stamp=$4
shift 4

if [ ! -f "$folder/build.ninja" ]; then
  meson setup "$folder" "$source" --cross-file "$crossfile" "$@"
elif [ -n "$(find /var/lib/dpkg/status -newer "$folder/build.ninja" 2>/dev/null)" ]; then
  meson configure --clearcache "$folder"
  meson setup --reconfigure "$folder" "$source"
fi
meson compile -C "$folder"
: >"$stamp"
