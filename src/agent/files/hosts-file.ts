import type { Pod } from "../../api/types/core-v1.ts";
import { podHostname } from "../pods/pod-hostname.ts";

const header = "# Kubernetes-managed hosts file.\n";
const hostNetworkHeader = "# Kubernetes-managed hosts file (host network).\n";
const fixedEntries = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

/**
 * Returns the /etc/hosts of the containers of a pod. `ofHost` is the machine's, for pods on its network.
 * @throws Error for names that the API server would have refused
 */
export function hostsFile(pod: Pod, ips: readonly string[], ofHost: string, clusterDomain: string): string {
  const { spec } = pod;
  const aliases = (spec?.hostAliases ?? []).map(({ ip, hostnames }) => `${[ip, ...(hostnames ?? [])].join("\t")}\n`);
  const added = aliases.length === 0 ? "" : `\n# Entries added by HostAliases.\n${aliases.join("")}`;
  if (spec?.hostNetwork === true) return hostNetworkHeader + ofHost + added;
  const { name, domain } = podHostname(pod, clusterDomain);
  const full = domain === "" ? "" : `${name}.${domain}\t`;
  const own = ips.map((ip) => `${ip}\t${full}${name}`);
  return header + [...fixedEntries, ...own].map((line) => `${line}\n`).join("") + added;
}
