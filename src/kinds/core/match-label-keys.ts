import type { Pod } from "../../api/types/core-v1.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type { LabelKeysTerm } from "./validation/match-label-keys.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * Adds the pod's own values of `matchLabelKeys` and `mismatchLabelKeys` to the selectors beside them, because schedulers
 * read only the selectors. Keys that the pod has no label for are ignored.
 */
export function mergeLabelKeys({ metadata: { labels = {} }, spec }: Pod): void {
  const { podAffinity = {}, podAntiAffinity = {} } = spec?.affinity ?? {};
  for (const affinity of [podAffinity, podAntiAffinity]) {
    for (const { podAffinityTerm } of affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      mergeTerm(podAffinityTerm, labels);
    }
    for (const term of affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeTerm(term, labels);
  }
  for (const constraint of spec?.topologySpreadConstraints ?? []) mergeTerm(constraint, labels);
}

/** A term without a selector selects nothing, whatever its keys say. */
function mergeTerm(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeysTerm,
  labels: Labels,
): void {
  if (labelSelector === undefined) return;
  merge(labelSelector, { keys: matchLabelKeys, operator: "In" }, labels);
  merge(labelSelector, { keys: mismatchLabelKeys, operator: "NotIn" }, labels);
}

interface LabelKeys {
  readonly keys: readonly string[];
  readonly operator: "In" | "NotIn";
}

function merge(selector: LabelSelector, { keys, operator }: LabelKeys, labels: Labels): void {
  const known = keys.filter((key) => Object.hasOwn(labels, key));
  if (known.length === 0) return;
  const added = known.map((key) => ({ key, operator, values: [labels[key] as string] }));
  selector.matchExpressions = [...(selector.matchExpressions ?? []), ...added];
}
