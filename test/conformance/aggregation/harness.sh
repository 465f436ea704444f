# Shared by the scripts of this folder, which source it. They set `group` and `version`, the process id of their server in
# `extension`, and `stop`, which ends their own processes.
set -euo pipefail
quorate=(bun "$(cd ../../.. && pwd)/src/main.ts")
scratch=$(mktemp -d)
address=$(hostname -I | cut -d' ' -f1)
server=

end() {
  [ -z "$1" ] || { kill -"${2:-TERM}" "$1" && wait "$1"; } 2>/dev/null || true
}
stop_all() {
  stop
  end "$server" && server=
}
trap 'stop_all; rm -rf "$scratch"' EXIT

fail() {
  printf 'FAIL: %s\n' "$1" >&2
  tail -n 20 "$scratch"/*.log >&2 || true
  exit 1
}

# until_true <what> <command…>: tries for a while.
until_true() {
  local what=$1
  shift
  for _ in $(seq 300); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  fail "$what"
}

# expect_text <text> <command…>: the output, errors too, contains the text.
expect_text() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || true
  [[ $out == *"$text"* ]] || fail "\"${*: -3}\" says \"$out\" instead of \"$text\""
}

answers() { [ -s "$1" ] && kubectl --kubeconfig "$1" get --raw /readyz; }

# make_certificate <DNS name>: an authority in ca.pem, and a serving certificate from it.
make_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj "/CN=extension authority" \
    -keyout "$scratch/ca-key.pem" -out "$scratch/ca.pem" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=api" \
    -keyout "$scratch/serving-key.pem" -out "$scratch/serving.csr" 2>/dev/null
  openssl x509 -req -in "$scratch/serving.csr" -CA "$scratch/ca.pem" -CAkey "$scratch/ca-key.pem" -days 1 \
    -extfile <(printf 'subjectAltName=DNS:%s,IP:127.0.0.1\n' "$1") -out "$scratch/serving.pem" 2>/dev/null
}

# make_kubeconfig <namespace> <service account>: the extension server's, in extension.kubeconfig.
make_kubeconfig() {
  local token
  token=$(kubectl create token "$2" -n "$1")
  kubectl config view --raw --minify --flatten >"$scratch/extension.kubeconfig"
  kubectl --kubeconfig "$scratch/extension.kubeconfig" config set-credentials extension --token "$token" >/dev/null
  kubectl --kubeconfig "$scratch/extension.kubeconfig" config set-context --current --user extension >/dev/null
}

# The flags of an extension server with the files of the functions above. It decides nothing from memory.
extension_flags=(
  --bind-address 0.0.0.0 --tls-cert-file "$scratch/serving.pem" --tls-private-key-file "$scratch/serving-key.pem"
  --kubeconfig "$scratch/extension.kubeconfig" --authentication-kubeconfig "$scratch/extension.kubeconfig"
  --authorization-kubeconfig "$scratch/extension.kubeconfig"
  --authorization-webhook-cache-authorized-ttl 0 --authorization-webhook-cache-unauthorized-ttl 0
)

# as_bearer <token> <server> <arguments of kubectl…>
as_bearer() {
  kubectl --kubeconfig /dev/null --insecure-skip-tls-verify --token "$1" --server "$2" "${@:3}"
}

front() { kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}'; }

wait_available() {
  kubectl wait --for=condition=Available --timeout=60s "apiservice/$version.$group" >/dev/null || fail 'not available'
}

# kill_extension <resource> <kubeconfig>…: the server that is killed fails its own requests, and no others.
kill_extension() {
  local resource=$1 config
  end "$extension" KILL
  kubectl wait --for=condition=Available=false --timeout=60s "apiservice/$version.$group" >/dev/null ||
    fail 'still called available'
  for config in "${@:2}"; do
    expect_text 'ServiceUnavailable' kubectl --kubeconfig "$config" get --raw "/apis/$group/$version/$resource"
    kubectl --kubeconfig "$config" get namespaces >/dev/null || fail 'namespaces cannot be listed'
  done
}

# register <namespace> <service> <port>: the objects that lead to the extension server.
register() {
  kubectl apply -f - >/dev/null <<EOF
apiVersion: v1
kind: Service
metadata: {name: $2, namespace: $1}
spec:
  ports: [{name: https, port: 443, targetPort: $3}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: $2-1
  namespace: $1
  labels: {kubernetes.io/service-name: $2}
addressType: IPv4
endpoints:
- addresses: [$address]
  conditions: {ready: true}
ports: [{name: https, port: $3, protocol: TCP}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: $version.$group}
spec:
  group: $group
  version: $version
  groupPriorityMinimum: 1000
  versionPriority: 15
  service: {name: $2, namespace: $1}
  caBundle: $(base64 -w0 <"$scratch/ca.pem")
EOF
}

# behind_one_and_three <check>: calls it with the kubeconfigs of one replica, and then of three.
behind_one_and_three() {
  local flags=(--secure-port 0 --enable-aggregator-routing) member
  echo '== one replica'
  "${quorate[@]}" up --data-dir "$scratch/one" "${flags[@]}" &
  server=$!
  until_true 'no server' answers "$scratch/one/kubeconfig"
  "$1" "$scratch/one/kubeconfig"
  stop_all
  echo '== three replicas'
  "${quorate[@]}" cluster up --data-dir "$scratch/three" --replicas 3 --load-balancer none "${flags[@]}" &
  server=$!
  for member in m1 m2 m3; do until_true "no server $member" answers "$scratch/three/$member/kubeconfig"; done
  "$1" "$scratch"/three/m{1,2,3}/kubeconfig
  echo 'passed'
}
