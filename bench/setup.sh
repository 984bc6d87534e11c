#!/bin/sh
# setup.sh [--test]: installs the Debian packages that are missing, as root or through sudo; with --test those of the
# tests too. Prints nothing where nothing is missing.
set -eu

packages="g++ meson ninja-build pkg-config libbenchmark-dev python3 python3-numpy python3-scipy"
case "${1-}" in
  "") ;;
  --test)
    packages="$packages clang clang-format libcmocka-dev strace black shellcheck
      python3-pytest python3-hypothesis" ;;
  *)
    echo "setup.sh: unknown argument '$1'" >&2
    exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: not a Debian system; needed are, by Debian's names: $packages" >&2
  exit 1
fi
missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "setup.sh: packages are missing; as root run: apt-get update && apt-get install -y$missing" >&2
  exit 1
fi
echo "installing:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# Packages are words of their own.
# shellcheck disable=SC2086
if ! { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup.sh: could not install:$missing" >&2
  exit 1
fi
