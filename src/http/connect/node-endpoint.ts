import type { JsonObject } from "../../api/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";

/** Types of node addresses, in order of preference. */
const preferredAddressTypes = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];
const nodePortDefault = 10_250;

export interface NodeEndpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the address of a node's agent from the status of the node.
 * @throws StatusError 500 for a node without an address
 */
export function nodeEndpointOf(node: KubeObject): NodeEndpoint {
  const state = objectOf((node as JsonObject)["status"]);
  const addresses = objectsOf(state["addresses"]);
  for (const type of preferredAddressTypes) {
    const found = addresses.find((address) => textOf(address["type"]) === type && textOf(address["address"]) !== "");
    if (found === undefined) continue;
    const port = numberOf(objectOf(objectOf(state["daemonEndpoints"])["kubeletEndpoint"])["Port"]);
    return { host: textOf(found["address"]), port: port > 0 ? port : nodePortDefault };
  }
  const known = addresses.map((address) => `{${textOf(address["type"])} ${textOf(address["address"])}}`);
  throw status.unconverted(`no preferred addresses found; known addresses: [${known.join(" ")}]`);
}
