#!/usr/bin/env bash
# Manages a release of a chart. Needs Go, kubectl and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"

if [ "${1:-}" != with-server ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  if [ -z "${HELM:-}" ]; then
    GOBIN=$scratch go install helm.sh/helm/v4/cmd/helm@v4.3.1
    HELM=$scratch/helm
  fi
  export HELM scratch HELM_CACHE_HOME=$scratch/cache HELM_CONFIG_HOME=$scratch/config HELM_DATA_HOME=$scratch/data
  ../with-server.sh ./run.sh with-server
  exit
fi

# expect <text> <command…>: the output, errors too, contains the text.
expect() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || true
  [[ $out == *"$text"* ]] || { printf 'FAIL: "%s" says "%s" instead of "%s"\n' "${*: -3}" "$out" "$text" >&2; exit 1; }
}
manager() {
  kubectl get deployment web-chart --show-managed-fields -o 'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation}{"\n"}{end}'
}
replicas() { kubectl get deployment web-chart -o 'jsonpath={.spec.replicas}'; }

"$HELM" create "$scratch/chart" >/dev/null
for server_side in true false; do
  echo "== --server-side=$server_side"
  helm() { "$HELM" "$@" "--server-side=$server_side"; }
  expect 'STATUS: deployed' helm install web "$scratch/chart"
  if [ "$server_side" = true ]; then expect 'helm Apply' manager; else expect 'helm Update' manager; fi
  expect 'has been upgraded' helm upgrade web "$scratch/chart" --set replicaCount=3
  expect 3 replicas
  expect 'Upgrade complete' "$HELM" history web
  expect 'Rollback was a success' helm rollback web 1
  expect 1 replicas
  expect 'STATUS: pending-install' helm install dry "$scratch/chart" --dry-run=server
  expect 'cannot reuse a name' helm install web "$scratch/chart"
  expect 'is invalid' helm upgrade web "$scratch/chart" --set service.port=100000
  expect 'has been upgraded' helm upgrade web "$scratch/chart" --install
  expect 'uninstalled' "$HELM" uninstall web --wait --cascade foreground --timeout 30s
  expect 'not found' replicas
done
echo 'passed'
