#!/bin/sh
# setup.sh [--test] [--browser] [--all] [--cross] [--report]: installs the Debian packages that are missing, as root or through sudo:
# those that bench/run.sh needs, and with the options those of the tests, of the slow tests, of the other architecture and
# of the report too.
# Prints nothing where nothing is missing.
set -eu

packages="g++ meson ninja-build pkg-config libbenchmark-dev python3 python3-numpy python3-scipy"
foreign=
test=

# The compiler, libraries and emulator of the architecture that this machine is not.
add_cross() {
  case $(dpkg --print-architecture) in
    amd64) foreign=arm64 compiler="g++-aarch64-linux-gnu gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
    arm64) foreign=amd64 compiler=g++-x86-64-linux-gnu ;;
    *)
      echo "setup.sh: --cross knows amd64 and arm64 only" >&2
      exit 1 ;;
  esac
  packages="$packages $compiler qemu-user-static libbenchmark-dev:$foreign libcmocka-dev:$foreign"
}

for option in "$@"; do
  if ! command -v dpkg-query >/dev/null; then
    break # what is missing is told below
  fi
  case $option in
    --test)
      packages="$packages clang clang-format clang-tidy cppcheck libcmocka-dev strace black pyflakes3 shellcheck
        locales python3-pytest python3-hypothesis python3-matplotlib
        e2fsprogs xfsprogs btrfs-progs fuse3 libfuse3-dev" test=yes ;;
    --browser) packages="$packages chromium" ;;
    --all) packages="$packages valgrind libclang-rt-dev gcovr python3-coverage" ;;
    --cross)
      add_cross
      # It brings the compiler for macOS, which the tests alone use.
      [ -z "$test" ] || command -v npm >/dev/null || packages="$packages npm" ;;
    --report) packages="$packages python3-matplotlib" ;;
    *)
      echo "setup.sh: unknown argument '$option'" >&2
      exit 2 ;;
  esac
done

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

add_foreign=
test=
if [ -n "$foreign" ] && ! dpkg --print-foreign-architectures | grep -qx "$foreign"; then
  add_foreign="dpkg --add-architecture $foreign && "
fi
install="${add_foreign}apt-get update -qq && apt-get install -y -qq --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "setup.sh: packages are missing; as root run: $install" >&2
  exit 1
fi
echo "installing:$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! $as_root env DEBIAN_FRONTEND=noninteractive sh -c "$install" >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup.sh: could not install:$missing" >&2
  exit 1
fi
