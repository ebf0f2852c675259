#!/usr/bin/env bash
# Small reads over HTTP, side by side in one run: mcp-fs and a bare hyper server that answers a constant of the same size.
# Needs wrk. What counts is the ratio; the numbers are those of the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${SECONDS_EACH:-8}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/root"
head -c 768 /dev/urandom | base64 -w 63 >"$work/root/small.txt" # about 1 KiB

cargo build --release --locked --quiet --bin mcp-fs --example constant
cat >"$work/read.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Host"] = "localhost"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "read_text_file"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"small.txt"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
LUA
target/release/mcp-fs --http 127.0.0.1:18083 --no-token "$work/root" 2>"$work/mcp-fs.log" &
target/release/examples/constant 127.0.0.1:18084 1250 &
sleep 0.5
rate() { wrk -t2 -c64 -d"${seconds}s" --latency -s "$work/read.lua" "http://127.0.0.1:$1/mcp" >"$work/$1.txt"; awk '/Requests\/sec/ {print $2}' "$work/$1.txt"; }
for round in 1 2 3; do
  constant=$(rate 18084)
  own=$(rate 18083)
  if grep -q 'Non-2xx' "$work/18083.txt"; then
    echo "mcp-fs answered errors" && exit 1
  fi
  awk -v r="$round" -v own="$own" -v constant="$constant" \
    'BEGIN {printf "round %d: mcp-fs %d/s, bare hyper %d/s, ratio %.2f\n", r, own, constant, own / constant}'
done
grep -E '99%' "$work/18083.txt" | sed 's/^/mcp-fs p99 of the last round:/'
