#!/usr/bin/env bash
# Runs sample-apiserver behind one replica, and then behind three. See README.md.
cd "$(dirname "$0")"
source ./harness.sh
etcd=${ETCD:-etcd}
sample=${SAMPLE_APISERVER:-}
sample_port=${SAMPLE_PORT:-17443}
etcd_port=${ETCD_PORT:-17379}
version=v1alpha1
group=wardle.example.com
store= extension= watch=

stop() {
  end "$watch" && watch=
  end "$extension" && extension=
  end "$store" && store=
}

start_extension() {
  "$sample" --secure-port "$sample_port" --etcd-servers "http://127.0.0.1:$etcd_port" "${extension_flags[@]}" \
    >>"$scratch/sample.log" 2>&1 &
  extension=$!
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
  kubectl apply -f sample-apiserver.yaml >/dev/null
  make_kubeconfig wardle apiserver
  register wardle api "$sample_port"
  expect_text 'False' kubectl get apiservice "$version.$group"

  echo '   the extension server starts and becomes available'
  start_extension
  wait_available
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
  expect_text 'No resources found' as_bearer "$token" "$(front)" get flunders
  expect_text 'forbidden' as_bearer "$token" "$(front)" delete flunder nothing
  expect_text 'FlunderList' as_bearer "$token" "https://127.0.0.1:$sample_port" \
    get --raw "/apis/$group/$version/flunders"
  expect_text 'cannot list resource "fischers"' as_bearer "$token" "https://127.0.0.1:$sample_port" \
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
  kill_extension flunders "$@"
  expect_text 'connection refused' kubectl get apiservice "$version.$group" -o yaml
  expect_text 'FailedDiscoveryCheck' kubectl get apiservice "$version.$group"

  echo '   it returns'
  start_extension
  wait_available
  for config in "$@"; do until_true "no flunders at $config" kubectl --kubeconfig "$config" get flunders; done
}

if [ -z "$sample" ]; then
  GOBIN=$scratch/bin go install k8s.io/sample-apiserver@v0.36.2
  sample=$scratch/bin/sample-apiserver
fi
make_certificate api.wardle.svc
behind_one_and_three check
