import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

export const workload = builtInKind("workloads.scheduling.k8s.io", {
  endpoint: stored({ ...defaultStrategy, declaresRules: true }),
  descriptions: {
    "scheduling/v1alpha2.Workload": { "": "A set of pods that a scheduler places by common rules." },
    "scheduling/v1alpha2.WorkloadSpec": {
      "": "The groups of pods of a workload.",
      controllerRef: "The object that creates the pods, for tools that show it. Cannot change.",
      podGroupTemplates: "Templates of groups of pods, at most 8. Cannot change.",
    },
    "scheduling/v1alpha2.TypedLocalObjectReference": {
      "": "Refers to an object in the same namespace.",
      apiGroup: "API group of the object. Empty for the core group.",
    },
    "scheduling/v1alpha2.PodGroupTemplate": {
      "": "Rules for groups of pods.",
      name: "Name of the template within the workload.",
      schedulingPolicy: "Rule for placing the pods of a group. Exactly one policy must be set.",
      schedulingConstraints: "Limits on the nodes for a group.",
      resourceClaims: "Resource claims that the pods of a group share, at most 4. Cannot change.",
      disruptionMode: "Pod if pods may be disrupted one by one, PodGroup if only all of a group together.",
      priorityClassName: "Name of the priority class of a group.",
      priority: "Priority of a group. A higher value is scheduled first.",
    },
    "scheduling/v1alpha2.PodGroupSchedulingPolicy": {
      "": "A rule for placing the pods of a group.",
      basic: "Places each pod on its own.",
      gang: "Places all pods of the group, or none.",
    },
    "scheduling/v1alpha2.BasicSchedulingPolicy": { "": "Places each pod on its own." },
    "scheduling/v1alpha2.GangSchedulingPolicy": {
      "": "Places all pods of a group, or none.",
      minCount: "Number of pods that must fit at the same time.",
    },
    "scheduling/v1alpha2.PodGroupSchedulingConstraints": {
      "": "Limits on the nodes for a group.",
      topology: "Node labels that must be equal for all pods of the group, at most 1.",
    },
    "scheduling/v1alpha2.TopologyConstraint": {
      "": "A label that the nodes of a group have in common.",
      key: "Key of the label.",
    },
    "scheduling/v1alpha2.PodGroupResourceClaim": {
      "": "A resource claim that the pods of a group share.",
      name: "Name of the claim within the group.",
      resourceClaimName: "Name of an existing claim.",
      resourceClaimTemplateName: "Name of the template from which a claim is made for the group.",
    },
  },
});
