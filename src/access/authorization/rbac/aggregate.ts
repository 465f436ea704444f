import { equalJson, isJsonObject, type JsonObject } from "../../../api/json.ts";
import { objectsOf } from "../../../api/json-reading.ts";
import { matchesLabels } from "../../../api/label-selector.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type { KubeObject } from "../../../api/object-meta.ts";

/** The field manager of aggregated rules. */
export const aggregationManager = "clusterrole-aggregation-controller";

/**
 * Returns the rules of an aggregated ClusterRole: those of every other role that one of its selectors matches, in the
 * order of the roles' names, without duplicates. Returns undefined for a role that is not aggregated.
 */
export function aggregatedRules(role: KubeObject, clusterRoles: readonly KubeObject[]): JsonObject[] | undefined {
  const { aggregationRule } = role;
  if (!isJsonObject(aggregationRule)) return undefined;
  const selectors = objectsOf(aggregationRule["clusterRoleSelectors"]).map(labelSelectorOf);
  const picked = clusterRoles.filter(
    ({ metadata }) =>
      metadata.name !== role.metadata.name &&
      selectors.some((selector) => selector !== undefined && matchesLabels(selector, metadata.labels)),
  );
  const rules: JsonObject[] = [];
  const seen = new Set<string>();
  for (const { rules: own } of picked.toSorted(byName)) {
    for (const rule of objectsOf(own)) {
      const text = JSON.stringify(rule);
      if (!seen.has(text)) rules.push(rule);
      seen.add(text);
    }
  }
  return rules;
}

/** Reports whether the role already has these rules. */
export function hasRules(role: KubeObject, rules: readonly JsonObject[]): boolean {
  return equalJson([...objectsOf(role["rules"])], [...rules]);
}

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}
