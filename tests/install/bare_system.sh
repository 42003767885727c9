#!/usr/bin/env bash
# bare_system.sh RELEASE TRIAL PACKAGE: runs TRIAL, a script beside this one, with PACKAGE in a fresh copy
# of a minimal system of a Debian or Ubuntu release. debootstrap makes that system once, in
# build/bare/RELEASE. Needs root, for chroot.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
release=$1 trial=$2 package=$(realpath -e "$3")
bare=$here/../../build/bare
mkdir -p "$bare"
bare=$(cd "$bare" && pwd)

say() { printf '\033[1m-- %s\033[0m\n' "$*"; }

bootstrap() {
  local log=$bare/$release.log
  local -a source=(--components=main http://deb.debian.org/debian)
  case $release in
    # Older debootstraps know no newer Ubuntu; all of its releases are made alike.
    noble) source=(--components=main,universe http://archive.ubuntu.com/ubuntu gutsy) ;;
  esac
  local target=$bare/$release.part
  rm -rf "$target"
  say "Making a bare $release in build/bare"
  debootstrap --variant=minbase "${source[0]}" "$release" "$target" "${source[@]:1}" >"$log" 2>&1 ||
    { tail -n 20 "$log"; return 1; }
  rm -rf "$target"/var/cache/apt/archives/*.deb
  mv "$target" "$bare/$release"
}

[ "$(id -u)" = 0 ] || { echo "bare_system.sh needs root, for chroot" >&2; exit 2; }
[ -d "$bare/$release" ] || bootstrap
root=$(mktemp -d "$bare/trial.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
cp -a "$bare/$release/." "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/trial"
cp -r "$package" "$here/$trial" "$here/consumer" "$root/trial"
say "$trial with $(basename "$package") on $release"
start=$SECONDS
# The mount is private: it ends with the command.
unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" env -i HOME=/root LANG=C.UTF-8 \
  PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh "/trial/$2"' sh "$root" "$trial"
say "$trial on $release: passed in $((SECONDS - start)) s"
