import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from "../../api/types/core-v1.ts";

/** Reports whether a node has the labels and the name that a pod requires. */
export function matchesNodeAffinity({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(spec?.nodeSelector ?? {});
  if (!selected.every(([key, value]) => labels[key] === value)) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}

/** Reports whether one of a selector's terms matches a node. */
export function matchesNodeSelector({ nodeSelectorTerms }: NodeSelector, { metadata }: Node): boolean {
  const fields = { "metadata.name": metadata.name ?? "" };
  return (nodeSelectorTerms ?? []).some((term) => matchesTerm(term, metadata.labels ?? {}, fields));
}

type Values = Readonly<Record<string, string>>;

/** A term without requirements matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, labels: Values, fields: Values) {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matchExpressions.every((one) => matches(one, labels)) && matchFields.every((one) => matches(one, fields));
}

function matches({ key, operator, values = [] }: NodeSelectorRequirement, among: Values): boolean {
  const value = Object.hasOwn(among, key) ? among[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return compares(value, values, (a, b) => a > b);
    case "Lt":
      return compares(value, values, (a, b) => a < b);
    default:
      return false;
  }
}

function compares(value: string | undefined, values: readonly string[], holds: (a: bigint, b: bigint) => boolean) {
  const [limit = ""] = values;
  const isNumber = (text: string) => /^[+-]?\d{1,19}$/.test(text);
  return value !== undefined && isNumber(value) && isNumber(limit) && holds(BigInt(value), BigInt(limit));
}
