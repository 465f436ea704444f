import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../../../api/json.ts";
import { objectsOf } from "../../../../api/json-reading.ts";
import type { KubeObject } from "../../../../api/object-meta.ts";
import { missingPermissions } from "../covers.ts";
import { policyRules } from "../policy-rule.ts";
import { autoUpdateAnnotation } from "./default-objects.ts";

/**
 * The action for an existing default role or binding: `replace` if it refers to another role, which cannot be changed.
 * Keeps additions of others. Ignores an object that is annotated against updates.
 */
export type Reconciled =
  | { readonly kind: "unchanged" | "replace" }
  | { readonly kind: "update"; readonly object: KubeObject };

export function reconcile(existing: KubeObject, expected: KubeObject): Reconciled {
  if (existing.metadata.annotations?.[autoUpdateAnnotation] === "false") return { kind: "unchanged" };
  const isBinding = expected["roleRef"] !== undefined;
  if (isBinding && !equalJson(existing["roleRef"] as JsonValue, expected["roleRef"] as JsonValue)) {
    return { kind: "replace" };
  }
  const object = isBinding ? withSubjects(existing, expected) : withRules(existing, expected);
  const { metadata } = existing;
  object.metadata = {
    ...metadata,
    labels: { ...expected.metadata.labels, ...metadata.labels },
    annotations: { ...expected.metadata.annotations, ...metadata.annotations },
  };
  const same = equalJson(object as unknown as JsonObject, existing as unknown as JsonObject);
  return same ? { kind: "unchanged" } : { kind: "update", object };
}

function withRules(existing: KubeObject, expected: KubeObject): KubeObject {
  if (expected["aggregationRule"] !== undefined) return withSelectors(existing, expected);
  const held = policyRules(existing["rules"] as JsonValue);
  const missing = objectsOf(expected["rules"]).filter(
    (rule) => missingPermissions(held, policyRules([rule])).length > 0,
  );
  return missing.length === 0 ? { ...existing } : { ...existing, rules: [...objectsOf(existing["rules"]), ...missing] };
}

function withSelectors(existing: KubeObject, expected: KubeObject): KubeObject {
  return { ...existing, aggregationRule: { clusterRoleSelectors: union(selectors(existing), selectors(expected)) } };
}

function withSubjects(existing: KubeObject, expected: KubeObject): KubeObject {
  const subjects = union(objectsOf(existing["subjects"]), objectsOf(expected["subjects"]));
  return subjects.length === 0 ? { ...existing } : { ...existing, subjects };
}

function selectors({ aggregationRule }: KubeObject): JsonObject[] {
  return isJsonObject(aggregationRule) ? objectsOf(aggregationRule["clusterRoleSelectors"]) : [];
}

function union(have: readonly JsonObject[], want: readonly JsonObject[]): JsonObject[] {
  return [...have, ...want.filter((item) => !have.some((known) => equalJson(known, item)))];
}
