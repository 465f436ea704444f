#!/usr/bin/env bash
# Runs sample-apiserver behind one replica, and then behind three. See README.md.
set -euo pipefail
cd "$(dirname "$0")"
quorate=(bun "$(cd ../../.. && pwd)/src/main.ts")
scratch=$(mktemp -d)
etcd=${ETCD:-etcd}
sample=${SAMPLE_APISERVER:-}
sample_port=${SAMPLE_PORT:-17443}
etcd_port=${ETCD_PORT:-17379}
address=$(hostname -I | cut -d' ' -f1)
version=v1alpha1
group=wardle.example.com
server= store= extension= watch=

end() {
  [ -z "$1" ] || { kill -"${2:-TERM}" "$1" && wait "$1"; } 2>/dev/null || true
}
stop() {
  end "$watch" && watch=
  end "$extension" && extension=
  end "$store" && store=
  end "$server" && server=
}
trap 'stop; rm -rf "$scratch"' EXIT

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

start_extension() {
  "$sample" --secure-port "$sample_port" --bind-address 0.0.0.0 --etcd-servers "http://127.0.0.1:$etcd_port" \
    --tls-cert-file "$scratch/serving.pem" --tls-private-key-file "$scratch/serving-key.pem" \
    --kubeconfig "$scratch/extension.kubeconfig" --authentication-kubeconfig "$scratch/extension.kubeconfig" \
    --authorization-kubeconfig "$scratch/extension.kubeconfig" \
    --authorization-webhook-cache-authorized-ttl 0 --authorization-webhook-cache-unauthorized-ttl 0 \
    >>"$scratch/sample.log" 2>&1 &
  extension=$!
}

make_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj "/CN=wardle authority" \
    -keyout "$scratch/ca-key.pem" -out "$scratch/ca.pem" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=api" \
    -keyout "$scratch/serving-key.pem" -out "$scratch/serving.csr" 2>/dev/null
  openssl x509 -req -in "$scratch/serving.csr" -CA "$scratch/ca.pem" -CAkey "$scratch/ca-key.pem" -days 1 \
    -extfile <(printf 'subjectAltName=DNS:api.wardle.svc,IP:127.0.0.1\n') -out "$scratch/serving.pem" 2>/dev/null
}

flunder() {
  cat <<EOF
apiVersion: $group/$version
kind: Flunder
metadata: {name: $1}
spec: {reference: other}
EOF
}

# owned_by <resource> <apiVersion> <kind> <name>: a patch that names the owner.
owned_by() {
  local uid
  uid=$(kubectl get "$1" "$4" -o 'jsonpath={.metadata.uid}')
  printf '{"metadata":{"ownerReferences":[{"apiVersion":"%s","kind":"%s","name":"%s","uid":"%s"}]}}' "$2" "$3" "$4" "$uid"
}

# The objects that lead to the extension server.
registration() {
  cat <<EOF
apiVersion: v1
kind: Service
metadata: {name: api, namespace: wardle}
spec:
  ports: [{name: https, port: 443, targetPort: $sample_port}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: api-1
  namespace: wardle
  labels: {kubernetes.io/service-name: api}
addressType: IPv4
endpoints:
- addresses: [$address]
  conditions: {ready: true}
ports: [{name: https, port: $sample_port, protocol: TCP}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: $version.$group}
spec:
  group: $group
  version: $version
  groupPriorityMinimum: 1000
  versionPriority: 15
  service: {name: api, namespace: wardle}
  caBundle: $(base64 -w0 <"$scratch/ca.pem")
EOF
}

# check <kubeconfig of one replica>…
check() {
  local first=$1 token config name event
  export KUBECONFIG=$first
  : >"$scratch/sample.log"
  rm -rf "$scratch/etcd"
  "$etcd" --data-dir "$scratch/etcd" --listen-client-urls "http://127.0.0.1:$etcd_port" \
    --advertise-client-urls "http://127.0.0.1:$etcd_port" --listen-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
    --log-level error >"$scratch/etcd.log" 2>&1 &
  store=$!
  until_true 'no etcd' bash -c "</dev/tcp/127.0.0.1/$etcd_port"
  kubectl apply -f objects.yaml >/dev/null
  token=$(kubectl create token apiserver -n wardle)
  kubectl config view --raw --minify --flatten >"$scratch/extension.kubeconfig"
  kubectl --kubeconfig "$scratch/extension.kubeconfig" config set-credentials wardle --token "$token" >/dev/null
  kubectl --kubeconfig "$scratch/extension.kubeconfig" config set-context --current --user wardle >/dev/null
  registration | kubectl apply -f - >/dev/null
  expect_text 'False' kubectl get apiservice "$version.$group"

  echo '   the extension server starts and becomes available'
  start_extension
  kubectl wait --for=condition=Available --timeout=60s "apiservice/$version.$group" >/dev/null || fail 'not available'
  until_true 'kubectl does not find flunders' kubectl get flunders

  echo '   objects are made, read, changed and watched through every replica'
  kubectl get flunders --watch --output-watch-events -o 'jsonpath={.type} {.object.metadata.name}{"\n"}' \
    >"$scratch/watch" &
  watch=$!
  for config in "$@"; do
    name=f-$(basename "$(dirname "$config")")
    until_true "no flunders at $config" kubectl --kubeconfig "$config" get flunders
    kubectl --kubeconfig "$config" create -f - >/dev/null <<EOF
apiVersion: $group/$version
kind: Flunder
metadata: {name: $name, labels: {a: b}}
spec: {reference: other}
EOF
    expect_text "flunder.$group/$name" kubectl --kubeconfig "$config" get flunders -l a=b -o name
    kubectl --kubeconfig "$config" label flunder "$name" seen=yes >/dev/null
    expect_text 'spec' kubectl --kubeconfig "$config" explain flunder
    expect_text 'other' kubectl --kubeconfig "$config" get flunder "$name" -o yaml
    kubectl --kubeconfig "$config" delete flunder "$name" >/dev/null
    for event in ADDED MODIFIED DELETED; do
      until_true "the watch does not show $event of $name" grep -q "$event $name" "$scratch/watch"
    done
  done

  echo '   both servers authorize, and the user is the one of the request'
  token=$(kubectl create token reader -n wardle)
  local as_reader=(kubectl --kubeconfig /dev/null --token "$token" --insecure-skip-tls-verify)
  local front
  front=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
  expect_text 'No resources found' "${as_reader[@]}" --server "$front" get flunders
  expect_text 'forbidden' "${as_reader[@]}" --server "$front" delete flunder nothing
  expect_text 'FlunderList' "${as_reader[@]}" --server "https://127.0.0.1:$sample_port" \
    get --raw "/apis/$group/$version/flunders"
  expect_text 'cannot list resource "fischers"' "${as_reader[@]}" --server "https://127.0.0.1:$sample_port" \
    get --raw "/apis/$group/$version/fischers"

  echo '   its documents are merged, and its objects go with their namespace and their owners'
  expect_text "/apis/$group/$version/flunders" kubectl get --raw /openapi/v2
  expect_text "apis/$group/$version" kubectl get --raw /openapi/v3
  kubectl create namespace going >/dev/null
  flunder a | kubectl create -n going -f - >/dev/null
  kubectl delete namespace going --timeout=60s >/dev/null || fail 'the namespace stays'
  flunder owner | kubectl create -f - >/dev/null
  kubectl create configmap dependent --from-literal=a=b >/dev/null
  kubectl patch configmap dependent --type=merge -p "$(owned_by flunder "$group/$version" Flunder owner)" >/dev/null
  kubectl create configmap owner >/dev/null
  flunder dependent | kubectl create -f - >/dev/null
  kubectl patch flunder dependent --type=merge -p "$(owned_by configmap v1 ConfigMap owner)" >/dev/null
  kubectl delete flunder owner >/dev/null
  kubectl delete configmap owner --cascade=foreground >/dev/null
  kubectl wait --for=delete configmap/dependent flunder/dependent --timeout=30s >/dev/null || fail 'dependents stay'

  echo '   its death is noticed, and disturbs nobody else'
  end "$extension" KILL
  kubectl wait --for=condition=Available=false --timeout=60s "apiservice/$version.$group" >/dev/null ||
    fail 'still called available'
  expect_text 'connection refused' kubectl get apiservice "$version.$group" -o yaml
  expect_text 'FailedDiscoveryCheck' kubectl get apiservice "$version.$group"
  for config in "$@"; do
    expect_text 'ServiceUnavailable' kubectl --kubeconfig "$config" get --raw "/apis/$group/$version/flunders"
    kubectl --kubeconfig "$config" get namespaces >/dev/null || fail 'namespaces cannot be listed'
  done

  echo '   it returns'
  start_extension
  kubectl wait --for=condition=Available --timeout=60s "apiservice/$version.$group" >/dev/null || fail 'not available again'
  for config in "$@"; do until_true "no flunders at $config" kubectl --kubeconfig "$config" get flunders; done
  stop
}

if [ -z "$sample" ]; then
  GOBIN=$scratch/bin go install k8s.io/sample-apiserver@v0.36.2
  sample=$scratch/bin/sample-apiserver
fi
make_certificate

echo '== one replica'
"${quorate[@]}" up --data-dir "$scratch/one" --secure-port 0 --enable-aggregator-routing &
server=$!
until_true 'no server' answers "$scratch/one/kubeconfig"
check "$scratch/one/kubeconfig"

echo '== three replicas'
"${quorate[@]}" cluster up --data-dir "$scratch/three" --secure-port 0 --replicas 3 --load-balancer none \
  --enable-aggregator-routing &
server=$!
for member in m1 m2 m3; do until_true "no server $member" answers "$scratch/three/$member/kubeconfig"; done
check "$scratch"/three/m{1,2,3}/kubeconfig
echo 'passed'
