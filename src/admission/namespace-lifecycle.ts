import type { ObjectMeta } from "../api/object-meta.ts";
import { status } from "../api/status.ts";
import type { AdmissionPlugin } from "./admission.ts";

/** Namespaces that cannot be deleted: the control plane itself lives in them. */
const immortalNamespaces = new Set(["default", "kube-system", "kube-public"]);

/** All that the plugin asks of the namespaces. */
export interface NamespaceLookup {
  /** Metadata and phase of a namespace; undefined when it does not exist. */
  get(name: string): { metadata: ObjectMeta; phase: string } | undefined;
}

/** Nothing is created in a namespace that is missing or being deleted, and the system's own namespaces stay. */
export function namespaceLifecycle(namespaces: NamespaceLookup): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    admit({ operation, info, namespace, name }) {
      if (info.group === "" && info.resource === "namespaces") {
        if (operation === "DELETE" && immortalNamespaces.has(name)) {
          throw status.forbidden({ group: "", resource: "namespaces", name }, "this namespace may not be deleted");
        }
        return;
      }
      if (operation !== "CREATE" || namespace === "") return;
      const found = namespaces.get(namespace);
      if (found === undefined) throw status.notFound({ group: "", resource: "namespaces", name: namespace });
      if (found.metadata.deletionTimestamp === undefined && found.phase !== "Terminating") return;
      throw status.forbidden(
        { group: info.group, resource: info.resource, name },
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${namespace} is being terminated`,
            field: "metadata.namespace",
          },
        ],
      );
    },
  };
}
