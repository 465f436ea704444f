import { httpClient, type ResourceType, readKubeconfig } from "../../src/index.ts";
import { cpuSeconds } from "./process.ts";

const core = { group: "", version: "v1" };
const accounts: ResourceType = { ...core, resource: "serviceaccounts" };
const bindings: ResourceType = { group: "rbac.authorization.k8s.io", version: "v1", resource: "clusterrolebindings" };
const namespace = "default";
const account = "bench";
const tokenSeconds = 4 * 3_600;

/** A server under comparison, with all processes that do its work. */
export interface ComparedServer {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  /** Returns the CPU seconds of its processes. */
  cpuSeconds(): number;
}

/**
 * Opens a server by its kubeconfig. Every server is driven with the token of a service account that is bound to
 * cluster-admin, so that all of them authenticate the same way.
 */
export async function openComparedServer(name: string, kubeconfig: string, pids: number[]): Promise<ComparedServer> {
  const server = readKubeconfig(kubeconfig);
  using client = httpClient(server);
  await client.patch(
    accounts,
    { namespace, name: account },
    { kind: "apply", document: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace } } },
    { fieldManager: account },
  );
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: bindings.group, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  };
  await client.patch(bindings, { name: account }, { kind: "apply", document: binding }, { fieldManager: account });
  const request = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: tokenSeconds },
  };
  const answer = await client.act(accounts, { namespace, name: account, subresource: "token" }, request);
  const { status } = answer as { status: { token: string } };
  return {
    name,
    url: server.url,
    token: status.token,
    cpuSeconds: () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
  };
}
