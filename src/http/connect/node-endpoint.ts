import { status } from "../../api/status.ts";
import type { Node } from "../../api/types/core-v1.ts";

/** Types of node addresses, in upstream's order of preference. */
export const nodeAddressTypes: readonly string[] = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
];
const nodePortDefault = 10_250;

export interface NodeEndpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the address of a node's agent from the status of the node.
 * @param types types of addresses in order of preference
 * @throws StatusError 500 for a node without an address
 */
export function nodeEndpointOf({ status: state = {} }: Pick<Node, "status">, types = nodeAddressTypes): NodeEndpoint {
  const addresses = state.addresses ?? [];
  for (const type of types) {
    const found = addresses.find((address) => address.type === type && address.address !== "");
    if (found === undefined) continue;
    const port = state.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
    return { host: found.address, port: port > 0 ? port : nodePortDefault };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`);
  throw status.unconverted(`no preferred addresses found; known addresses: [${known.join(" ")}]`);
}
