import type { LabelSelector } from "../../api/types/meta-v1.ts";

/** Returns a selector as kube-controller-manager prints it in messages. */
export function selectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pairs = labels.map(([key, value]) => `${key}: ${value},`).join("");
  const expressions = matchExpressions.map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
