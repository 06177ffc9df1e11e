#!/bin/sh
# Starts a program in the folder of an unpacked image as a container runtime does: in namespaces of its own, with the
# root read-only, and with no variable but those that are given. To be run by `unshare --mount --pid --fork`.
#
#     container.sh <root> <cgroup, or -> [NAME=value …] <absolute path of chroot> <its arguments>
set -eu

root=$1
cgroup=$2
shift 2
[ "$cgroup" = - ] || echo $$ > "$cgroup/cgroup.procs"
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --bind /dev "$root/dev"
exec env -i "$@"
