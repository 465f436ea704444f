import type { Pod } from "../api/types/core-v1.ts";
import { isExtendedResource } from "../api/validation/resource-name.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite } from "./attributes.ts";
import { containersOf } from "./pod.ts";

/** Lets a pod that requests a device run on nodes that are reserved for such pods. */
export function extendedResourceToleration(): AdmissionPlugin {
  return {
    name: "ExtendedResourceToleration",
    admit(attributes) {
      if (!isObjectWrite(attributes, { group: "", resource: "pods" })) return;
      const { spec } = attributes.object as Pod;
      if (spec === undefined) return;
      const requested = containersOf(spec).flatMap(({ resources }) => Object.keys(resources?.requests ?? {}));
      const { tolerations = [] } = spec;
      const added = [...new Set(requested.filter(isExtendedResource))]
        .sort()
        .filter((key) => !tolerations.some((own) => own.key === key && own.operator === "Exists" && !own.effect))
        .map((key) => ({ key, operator: "Exists" }));
      if (added.length > 0) spec.tolerations = [...tolerations, ...added];
    },
  };
}
