import { quoteText } from "../../api/go-literal.ts";
import type { Pod } from "../../api/types/core-v1.ts";

/** Facts that a pod learns from its node, before they are in its status. */
export interface PodAddresses {
  readonly podIps: readonly string[];
  readonly hostIps: readonly string[];
}

/** Returns the value of a field for a variable of a container. @throws Error for a field that has no value there */
export function variableField(pod: Pod, path: string, { podIps, hostIps }: PodAddresses): string {
  switch (path) {
    case "spec.nodeName":
      return pod.spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec?.serviceAccountName ?? "";
    case "status.hostIP":
      return hostIps[0] ?? "";
    case "status.hostIPs":
      return hostIps.join(",");
    case "status.podIP":
      return podIps[0] ?? "";
    case "status.podIPs":
      return podIps.join(",");
    default:
      return metadataField(pod, path);
  }
}

/** Returns the value of a field of the metadata, as variables and files show it. @throws Error for another field */
export function metadataField({ metadata }: Pod, path: string): string {
  const { labels = {}, annotations = {} } = metadata;
  const subscript = /^(.+?)\['(.*)'\]$/s.exec(path);
  if (subscript !== null) {
    const [, map, key = ""] = subscript;
    if (map === "metadata.labels") return Object.hasOwn(labels, key) ? (labels[key] ?? "") : "";
    if (map === "metadata.annotations") return Object.hasOwn(annotations, key) ? (annotations[key] ?? "") : "";
    throw new Error(`fieldPath ${quoteText(path)} does not support subscript`);
  }
  switch (path) {
    case "metadata.annotations":
      return mapText(annotations);
    case "metadata.labels":
      return mapText(labels);
    case "metadata.name":
      return metadata.name ?? "";
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    default:
      throw new Error(`unsupported fieldPath: ${path}`);
  }
}

/** Returns one line `key="value"` per entry, in the order of the keys. */
function mapText(map: Readonly<Record<string, string>>): string {
  const keys = Object.keys(map).sort();
  return keys.map((key) => `${key}=${quoteText(map[key] ?? "")}`).join("\n");
}
