#!/usr/bin/env bash
# Lets kubeadm's code discover a cluster. Needs Go, Bun, kubectl and openssl; see README.md.
set -euo pipefail
cd "$(dirname "$0")"
program=$(cd ../../.. && pwd)/src/main.ts
scratch=$(mktemp -d)
trap '[ -z "${server:-}" ] || { kill -TERM "$server" && wait "$server"; } 2>/dev/null || true; rm -rf "$scratch"' EXIT

go build -o "$scratch/discover" .

export KUBECONFIG=$scratch/data/kubeconfig
bun "$program" up --data-dir "$scratch/data" --secure-port 0 --controllers '*,bootstrapsigner,tokencleaner' \
  --bootstrap-signer-key secret --enable-bootstrap-token-auth &
server=$!
for _ in $(seq 300); do
  [ -s "$KUBECONFIG" ] && kubectl get --raw /readyz >/dev/null 2>&1 && break
  sleep 0.1
done

# What `kubeadm init` leaves for those who join.
url=$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
ca=$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
cat >"$scratch/info" <<INFO
apiVersion: v1
kind: Config
clusters:
- name: ""
  cluster: {server: "$url", certificate-authority-data: $ca}
INFO
kubectl -n kube-public create configmap cluster-info --from-file "kubeconfig=$scratch/info"
kubectl -n kube-public create role kubeadm:bootstrap-signer-clusterinfo --verb get --resource configmaps --resource-name cluster-info
kubectl -n kube-public create rolebinding kubeadm:bootstrap-signer-clusterinfo --role kubeadm:bootstrap-signer-clusterinfo --user system:anonymous
kubectl -n kube-system create secret generic bootstrap-token-abcdef --type bootstrap.kubernetes.io/token \
  --from-literal token-id=abcdef --from-literal token-secret=0123456789abcdef --from-literal usage-bootstrap-signing=true

hash=$(base64 -d <<<"$ca" | openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | sha256sum | cut -d' ' -f1)
found=$("$scratch/discover" "${url#https://}" abcdef.0123456789abcdef "sha256:$hash")
[ "$found" = "$url" ] || { printf 'discovered %s instead of %s\n' "$found" "$url" >&2; exit 1; }
printf '== discovered %s\n' "$found"

if "$scratch/discover" "${url#https://}" abcdef.fedcba9876543210 "sha256:$hash" 2>"$scratch/refusal"; then
  printf 'a token with another secret was accepted\n' >&2
  exit 1
fi
printf '== another secret: %s\n' "$(cat "$scratch/refusal")"
