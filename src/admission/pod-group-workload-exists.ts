import type { PodGroup, Workload } from "../api/types/scheduling-v1alpha2.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite, refuse } from "./attributes.ts";

/** Rejects new pod groups whose template does not exist. */
export function podGroupWorkloadExists({ lookup }: { readonly lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "PodGroupWorkloadExists",
    validate(attributes) {
      const { operation, object, namespace } = attributes;
      if (operation !== "CREATE" || object === undefined) return;
      if (!isObjectWrite(attributes, { group: "scheduling.k8s.io", resource: "podgroups" })) return;
      const reference = (object as PodGroup).spec.podGroupTemplateRef?.workload ?? undefined;
      if (reference === undefined) return;
      const found = lookup.get(
        { group: "scheduling.k8s.io", resource: "workloads" },
        namespace,
        reference.workloadName,
      );
      const problem = problemOf(found as Workload | undefined, reference.podGroupTemplateName);
      const workload = JSON.stringify(reference.workloadName);
      if (problem !== undefined) throw refuse(attributes, `PodGroup rejected: ${problem(workload)}`);
    },
  };
}

function problemOf(workload: Workload | undefined, template: string): ((name: string) => string) | undefined {
  if (workload === undefined) return (name) => `Workload ${name} not found`;
  if (workload.metadata.deletionTimestamp !== undefined) return (name) => `Workload ${name} is being deleted`;
  if ((workload.spec.podGroupTemplates ?? []).some(({ name }) => name === template)) return undefined;
  return (name) => `PodGroupTemplate ${JSON.stringify(template)} not found in Workload ${name}`;
}
