#!/bin/sh
# setup.sh [OPTION ...]: installs the Debian packages that are missing, as root or through sudo: those that bench/run.sh needs,
# and with options those of other things. Says before how much that is, and nothing where nothing is missing.
#   --report      pictures as PNG; the report itself needs nothing more
#   --cross       the other architecture
#   --quick-test  the quick tests
#   --test        all usual tests
#   --browser     tests that look at the report in a browser
#   --all         slow tests
set -eu

packages="g++ meson ninja-build pkg-config libbenchmark-dev python3 python3-numpy python3-scipy"
foreign=

# The compiler, libraries and emulator of the architecture that this machine is not.
add_cross() {
  case $(dpkg --print-architecture) in
    amd64) foreign=arm64 compiler="g++-aarch64-linux-gnu gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
    arm64) foreign=amd64 compiler=g++-x86-64-linux-gnu ;;
    *)
      echo "setup.sh: --cross knows amd64 and arm64 only" >&2
      exit 1 ;;
  esac
  packages="$packages $compiler qemu-user-static libbenchmark-dev:$foreign"
}

quick_test="libcmocka-dev strace locales python3-pytest python3-hypothesis e2fsprogs fuse3 libfuse3-dev"
test=
for option in "$@"; do
  if ! command -v dpkg-query >/dev/null; then
    break # what is missing is told below
  fi
  case $option in
    --quick-test) packages="$packages $quick_test" ;;
    --test)
      test=yes
      packages="$packages $quick_test clang clang-format clang-tidy cppcheck black pyflakes3 shellcheck python3-cairosvg
        xfsprogs btrfs-progs" ;;
    --browser) packages="$packages chromium" ;;
    --all) packages="$packages valgrind libclang-rt-dev gcovr python3-coverage debootstrap" ;;
    --cross) add_cross ;;
    --report) packages="$packages python3-cairosvg" ;;
    *)
      echo "setup.sh: unknown argument '$option'" >&2
      exit 2 ;;
  esac
done
if [ -n "$test" ] && [ -n "$foreign" ]; then
  packages="$packages libcmocka-dev:$foreign"
  # It brings the compiler for macOS.
  command -v npm >/dev/null || packages="$packages npm"
fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: not a Debian system; needed are, by Debian's names: $packages" >&2
  exit 1
fi
native=$(dpkg --print-architecture)
missing=
for package in $packages; do
  # A library may be there for another architecture only, or for several.
  case $package in
    *:*) wanted=${package#*:} ;;
    *) wanted=$native ;;
  esac
  dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "${package%:*}" 2>/dev/null |
    grep -qxE "installed ($wanted|all)" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  as_root=none
fi
add_foreign=
if [ -n "$foreign" ] && ! dpkg --print-foreign-architectures | grep -qx "$foreign"; then
  add_foreign="dpkg --add-architecture $foreign && "
fi
if [ "$as_root" = none ]; then
  echo "setup.sh: packages are missing; as root run: ${add_foreign}apt-get update -qq &&" \
    "apt-get install -y -qq --no-install-recommends$missing" >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# run COMMAND: as root; shows what it said only if it fails.
run() {
  $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -c "$1" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "setup.sh: could not install:$missing" >&2
  exit 1
}

echo "installing:$missing" >&2
[ -z "$add_foreign" ] || echo "adding the foreign architecture $foreign to dpkg" >&2
run "${add_foreign}apt-get update -qq"
# apt says itself how much it is: to be fetched, and then on the disk.
# shellcheck disable=SC2086
$as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>/dev/null |
  sed -n 's/^\([0-9]* upgraded\)/  \1/p; s/^\(Need to get\)/  \1/p; s/^\(After this operation\)/  \1/p' >&2
run "apt-get install -y -qq --no-install-recommends$missing"
