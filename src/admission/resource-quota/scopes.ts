import type { GroupResource } from "../../api/gvk.ts";
import { type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { qosClassOf } from "../../kinds/core/pod-qos.ts";
import type { ResourceQuota, ScopeRequirement } from "./quota.ts";
import { listOf, objectOf } from "../../api/json-reading.ts";

/** The facts that scopes depend on. Nothing else is kept of a counted object. */
export type ScopeFacts =
  | {
      readonly kind: "pod";
      readonly isTerminating: boolean;
      readonly isBestEffort: boolean;
      readonly priorityClassName: string;
      readonly reachesOtherNamespaces: boolean;
    }
  | { readonly kind: "claim"; readonly attributesClassNames: readonly string[] }
  | { readonly kind: "other" };

export function scopeFactsOf({ group, resource }: GroupResource, object: KubeObject): ScopeFacts {
  if (group === "" && resource === "pods") return podFacts(object as Pod);
  if (group !== "" || resource !== "persistentvolumeclaims") return { kind: "other" };
  const { volumeAttributesClassName: wanted = "" } = (object["spec"] ?? {}) as { volumeAttributesClassName?: string };
  const { currentVolumeAttributesClassName: current = "" } = (object["status"] ?? {}) as {
    currentVolumeAttributesClassName?: string;
  };
  return { kind: "claim", attributesClassNames: [...new Set([wanted, current])].filter((name) => name !== "") };
}

/** Reports whether the quota matches such an object: always without scopes, otherwise when every scope matches. */
export function isInScope({ spec = {} }: ResourceQuota, facts: ScopeFacts): boolean {
  const requirements = [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...(spec.scopeSelector?.matchExpressions ?? []),
  ];
  return requirements.every((requirement) => matches(facts, requirement));
}

function podFacts(pod: Pod): ScopeFacts {
  const { activeDeadlineSeconds, priorityClassName = "", affinity } = pod.spec ?? {};
  return {
    kind: "pod",
    isTerminating: activeDeadlineSeconds !== undefined,
    isBestEffort: qosClassOf(pod) === "BestEffort",
    priorityClassName,
    reachesOtherNamespaces: reachesOtherNamespaces(affinity),
  };
}

function matches(facts: ScopeFacts, requirement: ScopeRequirement): boolean {
  if (facts.kind === "claim") {
    if (requirement.scopeName !== "VolumeAttributesClass") return false;
    const names = facts.attributesClassNames;
    return (names.length === 0 ? [""] : names).some((name) => matchesText(requirement, name));
  }
  if (facts.kind === "other") return false;
  switch (requirement.scopeName) {
    case "Terminating":
      return facts.isTerminating;
    case "NotTerminating":
      return !facts.isTerminating;
    case "BestEffort":
      return facts.isBestEffort;
    case "NotBestEffort":
      return !facts.isBestEffort;
    case "PriorityClass":
      return matchesText(requirement, facts.priorityClassName);
    case "CrossNamespacePodAffinity":
      return facts.reachesOtherNamespaces;
    default:
      return false;
  }
}

/** Compares a text. "" stands for no value, which is not in any list. */
function matchesText({ operator, values = [] }: ScopeRequirement, text: string): boolean {
  switch (operator) {
    case "Exists":
      return text !== "";
    case "DoesNotExist":
      return text === "";
    case "In":
      return text !== "" && values.includes(text);
    case "NotIn":
      return !values.includes(text);
    default:
      return false;
  }
}

/** Reports whether a term of pod affinity or anti-affinity names or selects namespaces. */
function reachesOtherNamespaces(affinity: JsonValue | undefined): boolean {
  const terms = ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const one = objectOf(objectOf(affinity)[kind]);
    const preferred = listOf(one["preferredDuringSchedulingIgnoredDuringExecution"]);
    const required = listOf(one["requiredDuringSchedulingIgnoredDuringExecution"]);
    return [...required, ...preferred.map((weighted) => objectOf(weighted)["podAffinityTerm"])];
  });
  return terms.some((term) => {
    const { namespaces, namespaceSelector } = objectOf(term);
    return listOf(namespaces).length > 0 || namespaceSelector !== undefined;
  });
}
