#!/usr/bin/env bash
# Leaves controllers to kube-controller-manager. Needs kubectl, openssl and Bun; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
: "${KUBE_CONTROLLER_MANAGER:?is the path of the program}"

theirs='certificatesigningrequest-signing-controller,certificatesigningrequest-approving-controller,serviceaccount-token-controller,serviceaccount-controller,root-ca-certificate-publisher-controller'

if [ "${1:-}" != with-server ]; then
  SERVER_FLAGS="--controllers=*,-${theirs//,/,-}" ../with-server.sh ./run.sh with-server
  exit
fi

scratch=$(mktemp -d)
trap '[ -z "${manager:-}" ] || { kill -TERM "$manager" && wait "$manager"; } 2>/dev/null || true; rm -rf "$scratch"' EXIT
pki=$SERVER_DATA/pki
"$KUBE_CONTROLLER_MANAGER" --kubeconfig="$KUBECONFIG" --authentication-kubeconfig="$KUBECONFIG" \
  --authorization-kubeconfig="$KUBECONFIG" --use-service-account-credentials --secure-port=0 \
  --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" --root-ca-file="$pki/ca.crt" \
  --service-account-private-key-file="$pki/sa.key" --controllers="$theirs,deployment-controller,replicaset-controller" \
  2>"$scratch/log" &
manager=$!

# expect <text> <command…>: the output, errors too, contains the text.
expect() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || true
  [[ $out == *"$text"* ]] || { printf 'FAIL: "%s" says "%s" instead of "%s"\n' "$*" "$out" "$text" >&2; exit 1; }
}
# as <flag…>: the identity that the server sees.
as() {
  kubectl --kubeconfig=/dev/null --server="$server" --certificate-authority="$pki/ca.crt" "$@" auth whoami
}
server=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')

echo '== certificates'
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$scratch/jane.key" -subj /O=dev/CN=jane \
  -out "$scratch/jane.csr" 2>/dev/null
kubectl create -f - <<EOF
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: jane}
spec:
  request: $(base64 -w0 "$scratch/jane.csr")
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
EOF
kubectl certificate approve jane
kubectl wait csr/jane --for='jsonpath={.status.certificate}' --timeout=60s
kubectl get csr jane -o 'jsonpath={.status.certificate}' | base64 -d >"$scratch/jane.crt"
openssl verify -CAfile "$pki/ca.crt" "$scratch/jane.crt"
expect jane as --client-certificate="$scratch/jane.crt" --client-key="$scratch/jane.key"

echo '== service accounts'
kubectl create namespace robots
kubectl -n robots wait serviceaccount/default --for=create --timeout=60s
kubectl -n robots create -f - <<'EOF'
apiVersion: v1
kind: Secret
metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
EOF
kubectl -n robots wait secret/token --for='jsonpath={.data.token}' --timeout=60s
token=$(kubectl -n robots get secret token -o 'jsonpath={.data.token}' | base64 -d)
expect system:serviceaccount:robots:default as --token="$token"
expect system:serviceaccount:robots:default as --token="$(kubectl -n robots create token default)"
kubectl -n robots wait configmap/kube-root-ca.crt --for=create --timeout=60s
kubectl -n robots get configmap kube-root-ca.crt -o 'jsonpath={.data.ca\.crt}' | diff - "$pki/ca.crt"

echo '== workloads, which the garbage collector of the server removes'
kubectl -n robots create deployment web --image=web --replicas=2
kubectl -n robots wait deployment/web --for='jsonpath={.status.replicas}=2' --timeout=60s
kubectl -n robots delete deployment web --cascade=foreground --timeout=60s
expect 'No resources found' kubectl -n robots get replicasets,pods
kubectl delete namespace robots --timeout=60s
echo 'passed'
