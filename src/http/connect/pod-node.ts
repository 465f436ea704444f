import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { ConnectionCall } from "../../registry/endpoint.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Backend } from "./backend.ts";
import { nodeEndpointOf } from "./node-endpoint.ts";

/** Parts that connections to nodes need. */
export interface NodeConnectorParts {
  readonly pods: Registry;
  readonly nodes: Registry;
  /** The certificate of this server for connections to the agents of nodes. */
  nodeClient(): { readonly certificate: string; readonly key: string };
  /** PEM of the authorities of the agents' certificates. If absent, an agent may sign its own. */
  readonly nodeAuthorities: string | undefined;
  /** Types of node addresses in order of preference; upstream's order by default. */
  readonly nodeAddressTypes?: readonly string[] | undefined;
}

/** @throws StatusError 404 */
export function podOf({ pods }: NodeConnectorParts, { request }: ConnectionCall, name: string): KubeObject {
  const pod = pods.current(request.namespace, name);
  if (pod === undefined) throw status.notFound(pods.ref(name));
  return pod;
}

/**
 * Finds the agent of a node.
 * @param asked the registry of the resource in the path: upstream names it in the error for a missing node
 * @throws StatusError 404 for a node that does not exist, 500 for one without an address
 */
export function agentOf(parts: NodeConnectorParts, nodeName: string, asked = parts.nodes): Backend {
  const node = parts.nodes.current("", nodeName) as Node | undefined;
  if (node === undefined) throw status.notFound(asked.ref(nodeName));
  const at = nodeEndpointOf(node, parts.nodeAddressTypes);
  return { protocol: "https", ...at, client: parts.nodeClient(), authorities: parts.nodeAuthorities };
}

/** Returns the node that a pod runs on; "" for none yet. */
export function nodeNameOf(pod: KubeObject): string {
  return (pod["spec"] as { nodeName?: string } | undefined)?.nodeName ?? "";
}

/** Returns path segments and a query as one request target. */
export function target(segments: readonly string[], query: URLSearchParams): string {
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  return query.size === 0 ? path : `${path}?${query}`;
}
