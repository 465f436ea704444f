import type { Cells } from "../../api/codec/table/table-rules.ts";
import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { PodGroup } from "../../api/types/scheduling-v1alpha2.ts";
import { validateConditions } from "../../api/validation/conditions.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";

const podGroupStrategy: Strategy<PodGroup> = {
  ...defaultStrategy,
  declaresRules: true,
  // A field whose gate is off is dropped, and still shows its default.
  defaultsAgain: true,
  resetFields: ["status"],
};

const podGroupStatusStrategy: Strategy<PodGroup> = {
  ...statusStrategy(podGroupStrategy, { keepsMetadata: true }),
  validate: validateStatus,
};

export const podGroup = builtInKind("podgroups.scheduling.k8s.io", {
  endpoint: stored(podGroupStrategy),
  table: { cells: podGroupCells },
  subresources: { status: subresource(podGroupStatusStrategy) },
  descriptions: {
    "scheduling/v1alpha2.PodGroup": { "": "Pods that a scheduler places together." },
    "scheduling/v1alpha2.PodGroupSpec": {
      "": "Rules for the pods of a group. None of them can change.",
      podGroupTemplateRef: "Template from which the group was made.",
      schedulingPolicy: "Rule for placing the pods. Exactly one policy must be set.",
      schedulingConstraints: "Limits on the nodes for the group.",
      resourceClaims: "Resource claims that the pods share, at most 4.",
      disruptionMode: "Pod if pods may be disrupted one by one, PodGroup if only all of them together.",
      priorityClassName: "Name of the priority class of the group.",
      priority: "Priority of the group. A higher value is scheduled first.",
    },
    "scheduling/v1alpha2.PodGroupStatus": {
      "": "The observed state.",
      resourceClaimStatuses: "Claims that were made for the group.",
    },
    "scheduling/v1alpha2.PodGroupResourceClaimStatus": {
      "": "A claim that was made for a group.",
      name: "Name of the claim within the group.",
      resourceClaimName: "Name of the ResourceClaim.",
    },
    "scheduling/v1alpha2.PodGroupTemplateReference": {
      "": "Refers to the template of a group.",
      workload: "A template in a Workload.",
    },
    "scheduling/v1alpha2.WorkloadPodGroupTemplateReference": {
      "": "Refers to a template in a Workload.",
      workloadName: "Name of the Workload.",
      podGroupTemplateName: "Name of the template within the Workload.",
    },
  },
});

function validateStatus({ spec, status = {} }: PodGroup): FieldError[] {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const unknown = "must match the name of an entry in `spec.resourceClaims`";
  return [
    ...validateConditions(status.conditions, "status.conditions"),
    ...(status.resourceClaimStatuses ?? []).flatMap(({ name }, at) =>
      claims.has(name) ? [] : [fieldError.invalid(`status.resourceClaimStatuses[${at}].name`, name, unknown)],
    ),
  ];
}

function podGroupCells({ spec, status = {} }: PodGroup): Cells {
  const conditions = new Map((status.conditions ?? []).map((condition) => [condition.type, condition]));
  const scheduled = conditions.get("PodGroupScheduled");
  const placement = scheduled?.status === "True" ? "Scheduled" : "Unschedulable";
  return {
    Policy: spec.schedulingPolicy.gang === undefined ? "Basic" : "Gang",
    Workload: spec.podGroupTemplateRef?.workload?.workloadName ?? "<none>",
    Status: conditions.get("DisruptionTarget")?.reason ?? (scheduled === undefined ? "Pending" : placement),
  };
}
