import type { GroupResource } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type {
  Affinity,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
} from "../../api/types/core-v1.ts";
import { qosClassOf } from "../../kinds/core/pod-qos.ts";

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
  const { spec, status } = object as PersistentVolumeClaim;
  const names = [spec?.volumeAttributesClassName ?? "", status?.currentVolumeAttributesClassName ?? ""];
  return { kind: "claim", attributesClassNames: [...new Set(names)].filter((name) => name !== "") };
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
    reachesOtherNamespaces: reachesOtherNamespaces(affinity ?? {}),
  };
}

function matches(facts: ScopeFacts, requirement: ScopedResourceSelectorRequirement): boolean {
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

/** Compares a text. "" means no value, which is not in any list. */
function matchesText({ operator, values = [] }: ScopedResourceSelectorRequirement, text: string): boolean {
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
function reachesOtherNamespaces({ podAffinity, podAntiAffinity }: Affinity): boolean {
  const terms = [podAffinity, podAntiAffinity].flatMap((kind) => [
    ...(kind?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(kind?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some(
    ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  );
}
