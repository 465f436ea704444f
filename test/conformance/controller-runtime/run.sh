#!/usr/bin/env bash
# Runs the controller against one replica, and then against three. Needs Go and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
quorate=(bun "$(cd ../../.. && pwd)/src/main.ts")
scratch=$(mktemp -d)
server=

stop() {
  [ -z "$server" ] || { kill -TERM "$server" && wait "$server"; } 2>/dev/null || true
  server=
}
trap 'stop; rm -rf "$scratch"' EXIT

# Waits until a server has written its kubeconfig and answers with it.
await_kubeconfig() {
  for _ in $(seq 300); do
    [ -s "$1" ] && kubectl --kubeconfig "$1" get --raw /readyz >/dev/null 2>&1 && return
    sleep 0.1
  done
  printf 'no server for %s\n' "$1" >&2
  return 1
}

go test -c -o "$scratch/widgets.test" .

echo '== one replica'
"${quorate[@]}" up --data-dir "$scratch/one" --secure-port 0 --authorization-mode Node,RBAC &
server=$!
await_kubeconfig "$scratch/one/kubeconfig"
KUBECONFIGS=$scratch/one/kubeconfig "$scratch/widgets.test" -test.v
stop

echo '== three replicas'
"${quorate[@]}" cluster up --data-dir "$scratch/three" --secure-port 0 --replicas 3 --load-balancer none --authorization-mode Node,RBAC &
server=$!
for member in m1 m2 m3; do await_kubeconfig "$scratch/three/$member/kubeconfig"; done
KUBECONFIGS=$(printf '%s:' "$scratch"/three/m{1,2,3}/kubeconfig | sed 's/:$//') "$scratch/widgets.test" -test.v
