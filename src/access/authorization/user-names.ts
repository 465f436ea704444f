import { dnsLabelBytesMax, isDnsLabel, isDnsSubdomain } from "../../api/dns-name.ts";

const accountPrefix = "system:serviceaccount:";
const nodePrefix = "system:node:";

/** Key of the extra value with the node to which a service account token is bound. */
export const nodeNameExtra = "authentication.kubernetes.io/node-name";

/** Returns the account of a user name, or undefined for any other user. */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(accountPrefix)) return undefined;
  const [namespace = "", name = "", ...rest] = userName.slice(accountPrefix.length).split(":");
  const valid = namespace.length <= dnsLabelBytesMax && isDnsLabel(namespace) && isDnsSubdomain(name);
  return rest.length === 0 && valid ? { namespace, name } : undefined;
}

/** Returns the node of a user name, or undefined for any other user. */
export function nodeNameOf(userName: string): string | undefined {
  if (!userName.startsWith(nodePrefix)) return undefined;
  const name = userName.slice(nodePrefix.length);
  return isDnsSubdomain(name) ? name : undefined;
}
