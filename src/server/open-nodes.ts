import { issueCertificate } from "../access/certificates/authority.ts";
import type { ListenerTls, ServerIdentity } from "../access/certificates/identity.ts";
import { agentUsersBinding } from "../agent/agent-users.ts";
import { StatusError } from "../api/status.ts";
import type { ClusterRoleBinding } from "../api/types/rbac-v1.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { announcedAddress } from "../controllers/kubernetes-service.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerHttp } from "./open-http.ts";
import type { ServerCredentials } from "./open-identity.ts";
import type { StartContext } from "./start-context.ts";

export interface NodesParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly http: ServerHttp;
}

const loopbackAddress = "127.0.0.1";
const clockSkewMs = 60 * 60 * 1000;
const lifetimeMs = 365 * 24 * 60 * 60 * 1000;
const renewMs = 7 * 24 * 60 * 60 * 1000;
const bindings: ResourceType<ClusterRoleBinding> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "clusterrolebindings",
};

/** Simulates the nodes that the configuration asks for. Resolves when they are registered. */
export async function openNodes(parts: NodesParts): Promise<AsyncDisposable> {
  const { config, log, api, credentials, http, onError } = parts;
  const { simulatedNodes, clock } = config;
  await using opening = new AsyncDisposableStack();
  if (simulatedNodes === undefined) return opening.move();
  // Loaded late, because most servers simulate no nodes.
  const { openSimulatedNodes } = await import("../agent/simulated-nodes/simulated-nodes.ts");
  const { identity } = credentials;
  // Not the server's own client: the work of nodes is subject to admission, as it is upstream.
  const client = opening.use(http.clients.open());
  if (api.scheme.find(bindings.group, bindings.version, bindings.resource) !== undefined) await permitOwnCalls(client);
  const address = nodeAddress(config.bindAddress);
  const tls = () => endpointTls(identity, address, clock.nowMs());
  const nodes = opening.use(
    await openSimulatedNodes({
      ...simulatedNodes,
      client,
      clientOf: (name) => http.clients.open({ name: `system:node:${name}`, groups: ["system:nodes"] }),
      address,
      port: 0,
      tls: tls(),
      clock,
      log: log.for("nodes"),
      onError,
    }),
  );
  opening.use(identity.follow(() => nodes.reload(tls())));
  opening.use(clock.every(renewMs, () => nodes.reload(tls())));
  await nodes.registered;
  return opening.move();
}

/** Returns the address of the nodes, which other machines reach if they reach the server. */
function nodeAddress(bindAddress: string): string {
  const isLoopback = bindAddress.startsWith("127.") || bindAddress === "::1" || bindAddress === "localhost";
  return isLoopback ? loopbackAddress : (announcedAddress(bindAddress, "IPv4") ?? loopbackAddress);
}

/** Returns a new serving certificate for the endpoint of the nodes, which accepts the clients that the server does. */
function endpointTls(identity: ServerIdentity, address: string, nowMs: number): ListenerTls {
  const { certificate, key } = issueCertificate(identity.issuer, {
    commonName: "system:node:simulated",
    organizations: ["system:nodes"],
    usage: "server",
    dnsNames: ["localhost"],
    ipAddresses: [address],
    notBeforeMs: nowMs - clockSkewMs,
    notAfterMs: nowMs + lifetimeMs,
  });
  return { cert: certificate, key, ca: identity.tls().ca };
}

/** Permits this server, as nodes know it, to use their endpoint. */
async function permitOwnCalls(client: Pick<Client, "create">): Promise<void> {
  try {
    await client.create(bindings, agentUsersBinding());
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
  }
}
