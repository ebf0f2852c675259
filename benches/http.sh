#!/usr/bin/env bash
# HTTP side by side in one run: mcp-fs, a bare hyper server that answers a constant of the same size, and, with --sdks, the
# official SDKs' services with the same tool. What counts are the ratios; the numbers are those of the machine.
# Needs wrk; --sdks needs node, npm and the registries: what it fetches goes with the temporary folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${SECONDS_EACH:-8}
rounds=${ROUNDS:-3}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/root"
head -c 768 /dev/urandom | base64 -w 63 >"$work/root/small.txt" # about 1 KiB
head -c $((16 << 20)) /dev/urandom >"$work/root/blob.bin"

cargo build --release --locked --quiet --bin mcp-fs --example constant
source benches/http/read.sh
read_script >"$work/read.lua"
read_script legacy >"$work/legacy.lua"
read_script >"$work/blob.lua"
cat >>"$work/blob.lua" <<LUA
wrk.headers["Mcp-Method"] = "resources/read"
wrk.headers["Mcp-Name"] = "file://$work/root/blob.bin"
wrk.body = wrk.body:gsub("tools/call", "resources/read"):gsub('"name":"read_text_file","arguments":{"path":"small.txt"}', '"uri":"file://$work/root/blob.bin"')
LUA

# rmcp_service, typescript_service: the SDKs' services, made in the temporary folder.
rmcp_service() {
  mkdir -p "$work/rmcp/src"
  cp benches/http/rmcp.rs "$work/rmcp/src/main.rs"
  cat >"$work/rmcp/Cargo.toml" <<'TOML'
[package]
name = "service"
version = "0.0.0"
edition = "2024"
[dependencies]
axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
rmcp = { version = "3.11", features = ["server", "macros", "transport-streamable-http-server"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["rt-multi-thread", "macros", "net", "fs"] }
TOML
  CARGO_TARGET_DIR="${RMCP_TARGET:-$work/rmcp/target}" cargo build --release --quiet --manifest-path "$work/rmcp/Cargo.toml"
  cp "${RMCP_TARGET:-$work/rmcp/target}/release/service" "$work/rmcp-service"
}

typescript_service() {
  mkdir "$work/typescript"
  cp benches/http/typescript.mjs "$work/typescript"
  npm install --silent --no-audit --no-fund --prefix "$work/typescript" @modelcontextprotocol/sdk@1 zod
}

# run SCRIPT PORT CONNECTIONS: lets wrk send it; leaves its report in $work/PORT.txt.
run() {
  wrk -t2 -c"$3" -d"${seconds}s" --latency -s "$work/$1.lua" "http://127.0.0.1:$2/mcp" >"$work/$2.txt"
  if grep -q Non-2xx "$work/$2.txt"; then
    echo "errors were answered at port $2" && exit 1
  fi
}
rate() { run "$1" "$2" 64 && awk '/Requests\/sec/ {print $2}' "$work/$2.txt"; }
# In MB/s; wrk counts in powers of 1,024.
transfer() {
  run "$1" "$2" 4 &&
    awk '/Transfer\/sec/ {n = $2 + 0; u = $2 ~ /GB/ ? 1073.741824 : $2 ~ /MB/ ? 1.048576 : 0.001024; print n * u}' "$work/$2.txt"
}

# row WHAT ROUND UNIT OWN OTHER NAME: prints a line.
row() {
  awk -v what="$1" -v round="$2" -v unit="$3" -v own="$4" -v other="$5" -v name="$6" \
    'BEGIN {printf "%s, round %d: mcp-fs %d%s, %s %d%s, ratio %.2f\n", what, round, own, unit, name, other, unit, own / other}'
}

sdks=()
if [ "${1:-}" = --sdks ]; then
  rmcp_service
  typescript_service
  "$work/rmcp-service" 127.0.0.1:18086 "$work/root" &
  node "$work/typescript/typescript.mjs" 18087 "$work/root" &
  sdks=(rmcp:18086 TypeScript:18087)
fi
target/release/mcp-fs --http 127.0.0.1:18083 --no-token --max-blob-bytes $((16 << 20)) "$work/root" 2>"$work/mcp-fs.log" &
target/release/examples/constant 127.0.0.1:18084 1250 &
target/release/examples/constant 127.0.0.1:18088 $(((16 << 20) / 3 * 4 + 200)) &
sleep 2

for ((round = 1; round <= rounds; round++)); do
  own=$(rate read 18083)
  row "1 KiB" "$round" /s "$own" "$(rate read 18084)" "bare hyper"
  for sdk in "${sdks[@]}"; do
    row "1 KiB" "$round" /s "$own" "$(rate legacy "${sdk#*:}")" "${sdk%:*}"
  done
done
grep -E '99%' "$work/18083.txt" | sed 's/^/mcp-fs p99 of the last round:/'
for ((round = 1; round <= rounds; round++)); do
  row "16 MiB blob" "$round" " MB/s" "$(transfer blob 18083)" "$(transfer blob 18088)" "hyper from memory"
done
