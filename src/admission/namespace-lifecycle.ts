import type { Entry } from "../api/entry.ts";
import type { GroupResource } from "../api/gvk.ts";
import { status } from "../api/status.ts";
import type { Namespace } from "../api/types/core-v1.ts";
import { followedBy } from "../process/eventual.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";

const namespaces: GroupResource = { group: "", resource: "namespaces" };

/** Namespaces that cannot be deleted because the control plane itself uses them. */
const immortalNamespaces = new Set(["default", "kube-system", "kube-public"]);

export interface NamespaceLifecycleParts {
  readonly lookup: ObjectLookup;
  /** Resolves when all acknowledged objects can be looked up. */
  readonly catchUp: () => Promise<void>;
}

/** Rejects creations in a namespace that is missing or being deleted, and deletions of the system's own namespaces. */
export function namespaceLifecycle({ lookup, catchUp }: NamespaceLifecycleParts): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    admit(attributes) {
      const { operation, info, namespace, name } = attributes;
      if (info.group === "" && info.resource === "namespaces") {
        if (operation === "DELETE" && immortalNamespaces.has(name)) {
          throw status.forbidden({ ...namespaces, name }, "this namespace may not be deleted");
        }
        return;
      }
      if (operation !== "CREATE" || namespace === "" || isAccessReview(info)) return;
      const find = () => lookup.get(namespaces, "", namespace);
      // Another replica may have just created it.
      return followedBy(find() ?? catchUp().then(find), (found) => {
        requireActive(found, attributes);
        attributes.dependsOn(() => {
          requireActive(find(), attributes);
          return lookup.entry(namespaces, "", namespace) as Entry;
        });
      });
    },
  };
}

function requireActive(found: Namespace | undefined, { info, namespace, name }: AdmissionAttributes): void {
  if (found === undefined) throw status.notFound({ ...namespaces, name: namespace });
  if (found.metadata.deletionTimestamp === undefined && phaseOf(found) !== "Terminating") return;
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
}

/** Reports whether the request is a review. Its answer must not reveal whether the namespace exists. */
function isAccessReview({ group, resource }: GroupResource): boolean {
  return group === "authorization.k8s.io" && resource === "localsubjectaccessreviews";
}

function phaseOf(namespace: Namespace): string {
  return namespace.status?.phase ?? "";
}
