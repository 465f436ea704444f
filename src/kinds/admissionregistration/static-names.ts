import type { KubeObject } from "../../api/object-meta.ts";

/** Ends the names of configurations that servers read from files. */
const staticSuffix = ".static.k8s.io";

/** Such a name is accepted as long as the server reads no such files, with a warning. */
export function staticNameWarnings({ metadata: { name = "" } }: KubeObject): readonly string[] {
  if (!name.endsWith(staticSuffix)) return [];
  return [
    `metadata.name: names ending with "${staticSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}
