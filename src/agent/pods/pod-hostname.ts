import { isDnsLabel } from "../../api/dns-name.ts";
import type { Pod } from "../../api/types/core-v1.ts";

const hostnameCharactersMax = 63;
/** The kernel's name of a machine has this many characters at most. */
const fullNameCharactersMax = 64;

/** Name of a pod on its own network, and the domain in which it has a record; the domain may be empty. */
export interface PodHostname {
  readonly name: string;
  readonly domain: string;
}

/** @throws Error for names that the API server would have refused, as static pods may have */
export function podHostname({ metadata, spec }: Pod, clusterDomain: string): PodHostname {
  if (spec?.hostnameOverride !== undefined) return { name: shortened(spec.hostnameOverride), domain: "" };
  const { hostname = "", subdomain = "" } = spec ?? {};
  if (hostname !== "" && !isDnsLabel(hostname)) {
    throw new Error(`pod Hostname "${hostname}" is not a valid DNS label`);
  }
  if (subdomain !== "" && !isDnsLabel(subdomain)) {
    throw new Error(`pod Subdomain "${subdomain}" is not a valid DNS label`);
  }
  return {
    name: shortened(hostname === "" ? (metadata.name ?? "") : hostname),
    domain: subdomain === "" ? "" : `${subdomain}.${metadata.namespace}.svc.${clusterDomain}`,
  };
}

/** Returns the name that `hostname` prints in the pod. @throws Error if the full name is too long for the kernel */
export function kernelHostname({ spec }: Pod, { name, domain }: PodHostname): string {
  if (domain === "" || spec?.setHostnameAsFQDN !== true) return name;
  const full = `${name}.${domain}`;
  if (full.length <= fullNameCharactersMax) return full;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long ` +
      `(${fullNameCharactersMax} characters is the max, ${full.length} characters requested)`,
  );
}

/** Cuts a name where a cut leaves a valid one. */
function shortened(name: string): string {
  if (name.length <= hostnameCharactersMax) return name;
  let end = hostnameCharactersMax;
  while (end > 0 && (name[end - 1] === "-" || name[end - 1] === ".")) end--;
  return name.slice(0, end);
}
