import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import { numberIn, structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";

/** Which address of a node is taken when it has several, first choice first. */
const preferredAddressTypes = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];
const nodePortDefault = 10_250;

export interface NodeEndpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Where the agent of a node listens, by what the node says of itself.
 * @throws StatusError 500 when it says no address
 */
export function nodeEndpointOf(node: KubeObject): NodeEndpoint {
  const state = structIn(node as JsonObject, "status");
  const addresses = structsIn(state, "addresses");
  for (const type of preferredAddressTypes) {
    const found = addresses.find((address) => textIn(address, "type") === type && textIn(address, "address") !== "");
    if (found === undefined) continue;
    const port = numberIn(structIn(structIn(state, "daemonEndpoints"), "kubeletEndpoint"), "Port");
    return { host: textIn(found, "address"), port: port > 0 ? port : nodePortDefault };
  }
  const known = addresses.map((address) => `{${textIn(address, "type")} ${textIn(address, "address")}}`);
  throw status.unconverted(`no preferred addresses found; known addresses: [${known.join(" ")}]`);
}
