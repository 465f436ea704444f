import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { status } from "../../api/status.ts";
import { validateNonSpecialIp } from "../../api/validation/ip.ts";

/** Whether an address can be that of a pod or a node: this host, its network and its metadata service are not. */
export function isProxyableIp(address: string): boolean {
  return validateNonSpecialIp(address, "").length === 0;
}

/**
 * The address to connect to: a name is resolved once, and what was checked is what is used.
 * @throws StatusError 400 for an address that nobody is passed on to
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
