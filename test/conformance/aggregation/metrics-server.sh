#!/usr/bin/env bash
# Runs metrics-server behind one replica, and then behind three. See README.md.
cd "$(dirname "$0")"
source ./harness.sh
metrics_server=${METRICS_SERVER:-}
port=${METRICS_PORT:-17444}
kubelet_port=${KUBELET_PORT:-17445}
group=metrics.k8s.io
version=v1beta1
extension= kubelet=

stop() {
  end "$extension" && extension=
  end "$kubelet" && kubelet=
}

start_extension() {
  "$metrics_server" --secure-port "$port" --metric-resolution 10s --kubelet-request-timeout 5s \
    --kubelet-insecure-tls --kubelet-use-node-status-port --kubelet-preferred-address-types InternalIP \
    "${extension_flags[@]}" >>"$scratch/metrics-server.log" 2>&1 &
  extension=$!
}

node_status() {
  printf '{"status":{"addresses":[{"type":"InternalIP","address":"%s"}],' "$address"
  printf '"daemonEndpoints":{"kubeletEndpoint":{"Port":%s}},"allocatable":{"cpu":"2","memory":"4Gi"}}}' "$kubelet_port"
}

# expect_top <kubeconfig>: kubectl top shows the numbers of the stub.
expect_top() {
  until_true "no metrics of nodes at $1" kubectl --kubeconfig "$1" top node worker
  until_true "no metrics of pods at $1" kubectl --kubeconfig "$1" top pod web
  expect_text '500m         25%      512Mi           12%' kubectl --kubeconfig "$1" top nodes
  expect_text 'web    100m         64Mi' kubectl --kubeconfig "$1" top pods
  expect_text 'web   app    100m         64Mi' kubectl --kubeconfig "$1" top pods --containers
}

# check <kubeconfig of one replica>…
check() {
  export KUBECONFIG=$1
  local config server_url reader stranger
  : >"$scratch/metrics-server.log"
  bun stub-kubelet.ts "$kubelet_port" "$scratch/serving.pem" "$scratch/serving-key.pem" >"$scratch/kubelet.log" 2>&1 &
  kubelet=$!
  until_true 'no default service account' kubectl get serviceaccount default
  kubectl apply -f metrics-server.yaml >/dev/null
  kubectl patch node worker --subresource=status --type=merge -p "$(node_status)" >/dev/null
  kubectl patch pod web --subresource=status --type=merge -p '{"status":{"phase":"Running"}}' >/dev/null
  make_kubeconfig kube-system metrics-server
  register kube-system metrics-server "$port"
  expect_text 'Metrics API not available' kubectl top nodes

  echo '   it starts, becomes available, and kubectl top shows what the kubelet says'
  start_extension
  wait_available
  for config in "$@"; do expect_top "$config"; done

  echo '   both servers authorize, and the user is the one of the request'
  reader=$(kubectl create token reader -n kube-system)
  stranger=$(kubectl create token stranger -n kube-system)
  for server_url in "$(front)" "https://127.0.0.1:$port"; do
    expect_text 'PodMetricsList' as_bearer "$reader" "$server_url" get --raw "/apis/$group/$version/pods"
    expect_text 'cannot list resource "pods" in API group "metrics.k8s.io"' \
      as_bearer "$stranger" "$server_url" get --raw "/apis/$group/$version/pods"
  done

  echo '   it is killed, and disturbs nobody else'
  kill_extension nodes "$@"
  expect_text 'Metrics API not available' kubectl top nodes
  kubectl create namespace going >/dev/null
  kubectl delete namespace going --timeout=5s >/dev/null 2>&1 && fail 'a namespace went although its metrics are unknown'

  echo '   it returns, and is restarted'
  start_extension
  for config in "$@"; do expect_top "$config"; done
  kubectl wait --for=delete namespace/going --timeout=60s >/dev/null || fail 'the namespace stays'
  end "$extension"
  start_extension
  for config in "$@"; do expect_top "$config"; done
}

if [ -z "$metrics_server" ]; then
  GOBIN=$scratch/bin go install sigs.k8s.io/metrics-server/cmd/metrics-server@v0.8.0
  metrics_server=$scratch/bin/metrics-server
fi
make_certificate metrics-server.kube-system.svc
behind_one_and_three check
