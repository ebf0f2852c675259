#!/usr/bin/env bash
# How much one client notices of others: the p99 of small reads on one connection, alone and beside clients that misbehave,
# side by side in one run. The goal is twice what it is alone, or 10 ms, whichever is more (the median of the rounds).
# Needs wrk and python3. What counts are the ratios; the numbers are those of the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${SECONDS_EACH:-4}
rounds=${ROUNDS:-5}
port=18085
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/root"
head -c 768 /dev/urandom | base64 -w 63 >"$work/root/small.txt" # about 1 KiB
head -c 3500000 /dev/urandom >"$work/root/large.bin"

cargo build --release --locked --quiet --bin mcp-fs
source benches/http/read.sh
read_script >"$work/read.lua"
target/release/mcp-fs --http 127.0.0.1:$port --no-token "$work/root" 2>"$work/mcp-fs.log" &
sleep 0.5

# p99: of one client, in microseconds.
p99() {
  wrk -t1 -c1 -d"${seconds}s" --latency -s "$work/read.lua" "http://127.0.0.1:$port/mcp" >"$work/wrk.txt"
  if grep -q 'Non-2xx\|Socket errors' "$work/wrk.txt"; then
    cat "$work/wrk.txt" >&2
    return 1
  fi
  awk '$1 == "99%" {n = $2 + 0; print n * ($2 ~ /us/ ? 1 : $2 ~ /ms/ ? 1e3 : 1e6)}' "$work/wrk.txt"
}

# crowd NAME: clients that misbehave, until they are stopped.
crowd() {
  case $1 in
    flood) exec wrk -t1 -c64 -d1h -s "$work/read.lua" "http://127.0.0.1:$port/mcp" ;;
    *) exec python3 benches/http/crowd.py "$1" "$port" "$work/root/large.bin" ;;
  esac
}

# beside NAME: the same while these clients do what they do.
beside() {
  crowd "$1" >/dev/null 2>>"$work/crowd.log" &
  local crowd=$!
  sleep 1
  if ! kill -0 "$crowd" 2>/dev/null; then
    cat "$work/crowd.log" >&2
    return 1
  fi
  p99
  kill "$crowd"
  wait "$crowd" 2>/dev/null || true
}

median() { sort -n | awk '{n[NR] = $1} END {print n[int((NR + 1) / 2)]}'; }

crowds=(flood unread streams loris)
for ((round = 1; round <= rounds; round++)); do
  p99 >>"$work/alone"
  for crowd in "${crowds[@]}"; do
    beside "$crowd" >>"$work/$crowd"
  done
done
alone=$(median <"$work/alone")
printf '%-28s %10s %8s\n' "p99, median of $rounds rounds" "us" "ratio"
printf '%-28s %10d\n' alone "$alone"
failed=0
for crowd in "${crowds[@]}"; do
  now=$(median <"$work/$crowd")
  verdict=$(awk -v now="$now" -v alone="$alone" 'BEGIN {print now <= 2 * alone || now <= 10000 ? "" : "  too slow"}')
  [ -z "$verdict" ] || failed=1
  printf '%-28s %10d %8s%s\n' "beside $crowd" "$now" "$(awk -v a="$now" -v b="$alone" 'BEGIN {printf "%.2f", a / b}')" "$verdict"
done
exit $failed
