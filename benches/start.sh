#!/usr/bin/env bash
# Time from the start of a server to its answer to `initialize`, and its memory then: mcp-fs and the official server
# (@modelcontextprotocol/server-filesystem, installed by npm below target/), side by side in one run. What counts is the
# ratio; the numbers are those of the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${ROUNDS:-21}
official=target/official
cargo build --release --locked --quiet --bin mcp-fs
npm install --silent --no-audit --no-fund --prefix "$official" @modelcontextprotocol/server-filesystem >/dev/null
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}'

# once COMMAND...: microseconds and KiB of one start.
once() {
  local begun=${EPOCHREALTIME/./} answer
  coproc SERVER { exec "$@" 2>/dev/null; }
  local pid=$SERVER_PID out=${SERVER[0]} in=${SERVER[1]}
  printf '%s\n' "$hello" >&"$in"
  read -r answer <&"$out"
  local ended=${EPOCHREALTIME/./}
  [[ $answer == *'"result"'* ]] || { echo "no answer: $answer" >&2 && return 1; }
  echo "$((ended - begun)) $(awk '/VmRSS/ {print $2}' "/proc/$pid/status")"
  kill "$pid" && wait "$pid" 2>/dev/null || true
}

# median COMMAND...: the medians of both over all rounds.
median() {
  local round
  for ((round = 0; round < rounds; round++)); do once "$@"; done >"$official/rounds"
  local middle=$((rounds / 2 + 1))
  echo "$(cut -d' ' -f1 "$official/rounds" | sort -n | sed -n "${middle}p") $(cut -d' ' -f2 "$official/rounds" | sort -n | sed -n "${middle}p")"
}

read -r own_time own_memory <<<"$(median target/release/mcp-fs sample-root)"
read -r time memory <<<"$(median node "$official/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js" sample-root)"
static=target/dist/x86_64-unknown-linux-gnu/release/mcp-fs
if [ -x "$static" ]; then
  read -r static_time static_memory <<<"$(median "$static" sample-root)"
  awk -v a="$own_time" -v b="$static_time" -v c="$own_memory" -v d="$static_memory" 'BEGIN {
    printf "the static program of packaging/build: %.2f of the time, %.2f of the memory\n", b / a, d / c
  }'
else
  echo "SKIPPED the static program: packaging/build makes it"
fi
awk -v a="$own_time" -v b="$time" -v c="$own_memory" -v d="$memory" 'BEGIN {
  printf "start to first answer: mcp-fs %.1f ms, official %.1f ms: %.0f times faster\n", a / 1000, b / 1000, b / a
  printf "memory then: mcp-fs %.1f MiB, official %.1f MiB: 1/%.0f\n", c / 1024, d / 1024, d / c
}'
