#!/bin/sh
# Starts Node with the given arguments, on the newer of the system's Node and the one that `npm ci` brought
# along. A shell script, because it has to work before there is a Node that fits, and because `exec` leaves
# one process: signals and the exit code are the program's own, and nothing stays behind.
set -euf
IFS='
'

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
required=$(sed -n 's/.*"node": *">=\([0-9.]*\)".*/\1/p' "$root/package.json")

# The first Node on the path that npm did not put there: npm has the bundled one first in every script.
system_node() {
  for folder in $(printf '%s\n' "$PATH" | tr ':' '\n'); do
    case $folder in */node_modules/*) continue ;; esac
    if [ -x "$folder/node" ]; then
      echo "$folder/node"
      return
    fi
  done
}

# A version as one number: 24.12 -> 24012000.
comparable() {
  echo "$1" | awk -F. '{ print $1 * 1000000 + $2 * 1000 + $3 }'
}

best=''
best_version=$(($(comparable "$required") - 1))
found=''
# The system's comes first and wins a draw.
for node in $(system_node) "$root/node_modules/.bin/node"; do
  # One that does not start (a glibc build on musl, say) is as good as absent.
  answer=$("$node" -p process.versions.node 2>/dev/null) || continue
  found="$found${found:+ and }$answer"
  version=$(comparable "$answer")
  if [ "$version" -gt "$best_version" ]; then
    best=$node
    best_version=$version
  fi
done

if [ -z "$best" ]; then
  echo "rollout-operator needs Node $required or newer and found ${found:-none}: install one from https://nodejs.org and put it on the PATH." >&2
  exit 1
fi
unset IFS
# Stripping types costs a start half of its time and 30 MB that never come back: with the cache, once per change.
# Where the folder cannot be written there is no cache, and no error.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$root/node_modules/.cache/node}"
# Each thread of Node would have a heap of the C library of its own, and what it frees would stay in it: 20 MB under load. With a
# single one they wait for one another: the p99 of the reaction to a ready pod rose from 21 to 85 ms.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
# The C library's own value, said so that it stays: once a piece of 8 MiB is freed, it would take all pieces up to that size from
# the heap, of which it gives little back. After hostile reviews 20 to 40 MB more stayed resident.
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
exec "$best" "$@"
