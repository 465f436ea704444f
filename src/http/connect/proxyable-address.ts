import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { status } from "../../api/status.ts";
import { validateNonSpecialIp } from "../../api/validation/ip.ts";

/** Reports whether an address may belong to a pod or a node. Addresses of this host and link-local addresses may not. */
export function isProxyableIp(address: string): boolean {
  return validateNonSpecialIp(address, "").length === 0;
}

/**
 * Returns the address to connect to. Resolves a name only once, so that the checked address is the one that is used.
 * @throws StatusError 400 for an address of this host or its link
 */
export async function proxyableAddress(host: string): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolved(host) : [host];
  const [first] = addresses;
  if (first === undefined || !addresses.every(isProxyableIp)) throw status.badRequest("address not allowed");
  return first;
}

async function resolved(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw status.badRequest(`lookup ${host}: no such host`);
  }
}
