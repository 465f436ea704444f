#!/usr/bin/env bash
# Runs workloads on simulated nodes. Needs kubectl, curl and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
: "${KUBE_CONTROLLER_MANAGER:?is the path of the program}" "${KUBE_SCHEDULER:?is the path of the program}"

if [ "${1:-}" != with-server ]; then
  SERVER_FLAGS="--nodes 3 --simulation-rules $PWD/rules.yaml" ../with-server.sh ./run.sh with-server
  exit
fi

scratch=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap finish EXIT
access=(--kubeconfig="$KUBECONFIG" --authentication-kubeconfig="$KUBECONFIG" --authorization-kubeconfig="$KUBECONFIG")
workloads=deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller
"$KUBE_CONTROLLER_MANAGER" "${access[@]}" --use-service-account-credentials --secure-port=0 --leader-elect=false \
  --service-account-private-key-file="$SERVER_DATA/pki/sa.key" --root-ca-file="$SERVER_DATA/pki/ca.crt" \
  --controllers="$workloads" 2>"$scratch/manager.log" &
pids+=($!)
"$KUBE_SCHEDULER" "${access[@]}" --secure-port=0 --leader-elect=false 2>"$scratch/scheduler.log" &
pids+=($!)

# expect <text> <command…>: the output, errors too, contains the text.
expect() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || true
  [[ $out == *"$text"* ]] || { printf 'FAIL: "%s" says "%s" instead of "%s"\n' "$*" "$out" "$text" >&2; exit 1; }
}

echo '== nodes'
kubectl wait node --all --for=condition=Ready --timeout=60s
expect 'simulated://' kubectl get nodes -o wide
kubectl wait serviceaccount/default --for=create --timeout=60s

echo '== a Deployment'
kubectl create deployment web --image=nginx --replicas=4
kubectl rollout status deployment/web --timeout=60s
expect 'of image nginx has started' kubectl logs deployment/web
expect 'HOSTNAME=web-' kubectl exec deployment/web -- env
expect 'hello' kubectl exec deployment/web -- sh -c 'echo hello'
expect 'exit code 127' kubectl exec deployment/web -- curl http://localhost
echo text | kubectl exec -i deployment/web -- cat | diff - <(echo text)
kubectl port-forward deployment/web :80 >"$scratch/forward" &
pids+=($!)
for _ in $(seq 100); do
  port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$scratch/forward")
  [ -n "$port" ] && break
  sleep 0.1
done
expect 'answers on port 80' curl -sS "http://127.0.0.1:$port/"
kubectl set image deployment/web nginx=nginx:2
kubectl rollout status deployment/web --timeout=60s
kubectl scale deployment/web --replicas=1
kubectl wait deployment/web --for='jsonpath={.status.replicas}=1' --timeout=60s
kubectl expose deployment/web --port=80
kubectl wait endpoints/web --for=create --timeout=60s
kubectl wait endpoints/web --for='jsonpath={.subsets[0].addresses[0].ip}' --timeout=60s

echo '== a StatefulSet and a DaemonSet'
kubectl apply -f workloads.yaml
kubectl rollout status statefulset/ordered --timeout=60s
kubectl rollout status daemonset/everywhere --timeout=60s
expect '3' kubectl get daemonset everywhere -o 'jsonpath={.status.numberReady}'

echo '== Jobs'
kubectl create job done --image=busybox -- sh -c 'echo working; sleep 1'
kubectl wait job/done --for=condition=Complete --timeout=60s
expect 'working' kubectl logs job/done
kubectl wait job/fails --for=condition=Failed --timeout=60s

echo '== images that cannot be pulled, and crashes'
kubectl run broken --image=registry.invalid/app:1
kubectl wait pod/broken --for='jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff' --timeout=60s
kubectl wait pod/crashing --for='jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff' --timeout=60s
expect 'of image app has started' kubectl logs crashing --previous

echo '== a node that is drained'
node=$(kubectl get pods -l app=web -o 'jsonpath={.items[0].spec.nodeName}')
kubectl drain "$node" --ignore-daemonsets --force --delete-emptydir-data --timeout=60s
kubectl rollout status deployment/web --timeout=60s
expect '' kubectl uncordon "$node"
kubectl delete deployment,statefulset,daemonset,job --all --timeout=60s
kubectl delete service web
kubectl delete pods --all --timeout=60s
echo 'passed'
