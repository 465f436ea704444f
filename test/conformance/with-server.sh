#!/usr/bin/env bash
# Runs a command with the KUBECONFIG of a server that lives as long as it does: with-server.sh <command> [argument…]
set -euo pipefail
program=$(cd "$(dirname "$0")/../.." && pwd)/src/main.ts
data=$(mktemp -d)
trap '[ -z "${server:-}" ] || { kill -TERM "$server" && wait "$server"; } 2>/dev/null || true; rm -rf "$data"' EXIT

export KUBECONFIG=$data/kubeconfig
bun "$program" up --data-dir "$data" --secure-port 0 >/dev/null &
server=$!
for _ in $(seq 300); do
  [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && break
  sleep 0.1
done
"$@"
