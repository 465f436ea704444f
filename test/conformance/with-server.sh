#!/usr/bin/env bash
# Runs a command with the KUBECONFIG of a server that lives as long as it does: with-server.sh <command> [argument…]
# SERVER_FLAGS are further flags of the server, and SERVER_DATA becomes its data directory. With REPLICAS, it is a cluster
# of that many behind haproxy, and SERVER_DATA is the directory of the first member.
set -euo pipefail
program=$(cd "$(dirname "$0")/../.." && pwd)/src/main.ts
data=$(mktemp -d)
trap '[ -z "${server:-}" ] || { kill -TERM "$server" && wait "$server"; } 2>/dev/null || true; rm -rf "$data"' EXIT

export KUBECONFIG=$data/kubeconfig SERVER_DATA=$data
read -ra flags <<<"${SERVER_FLAGS:-}"
command=(up)
if [ "${REPLICAS:-1}" -gt 1 ]; then
  command=(cluster up --replicas "$REPLICAS" --load-balancer haproxy)
  SERVER_DATA=$data/m1
fi
bun "$program" "${command[@]}" --data-dir "$data" --kubeconfig "$KUBECONFIG" --secure-port 0 "${flags[@]}" >/dev/null &
server=$!
for _ in $(seq 300); do
  [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && break
  sleep 0.1
done
"$@"
