import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";

const namespaces = { group: "", resource: "namespaces" };

/**
 * Returns the namespace of a request; undefined for one of the cluster, and for one about a Namespace itself.
 * @throws StatusError 404
 */
export function namespaceOfRequest(
  { kind, namespace }: Pick<AdmissionAttributes, "kind" | "namespace">,
  lookup: ObjectLookup,
): KubeObject | undefined {
  if (namespace === "" || (kind.group === "" && kind.kind === "Namespace")) return undefined;
  const found = lookup.get(namespaces, "", namespace);
  if (found === undefined) throw status.notFound({ ...namespaces, name: namespace });
  return found;
}
