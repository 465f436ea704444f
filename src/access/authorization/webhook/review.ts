import { emptyJsonObject, type JsonObject } from "../../../api/json.ts";
import type { LabelRequirement } from "../../../api/label-selector.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import { type Attributes, selectorsOf } from "../attributes.ts";

export interface ReviewOptions {
  readonly version: "v1" | "v1beta1";
  /** Whether the selectors are part of the question. */
  readonly selectors: boolean;
}

/** Returns the `spec` of a SubjectAccessReview for `user`, in the order in which it is cached. */
export function reviewSpec(user: UserInfo, attributes: Attributes, { version, selectors }: ReviewOptions): JsonObject {
  const { name, uid, groups, extra } = user;
  return {
    ...(attributes.kind === "resource"
      ? { resourceAttributes: resourceAttributes(attributes, selectors) }
      : { nonResourceAttributes: { path: attributes.path, verb: attributes.verb } }),
    ...(name === "" ? {} : { user: name }),
    ...(groups.length === 0 ? {} : { [version === "v1" ? "groups" : "group"]: [...groups] }),
    ...(extra.size === 0 ? {} : { extra: extraOf(extra) }),
    ...(uid === "" ? {} : { uid }),
  };
}

/** Returns the whole review as it is sent. */
export function reviewText(spec: JsonObject, { version }: ReviewOptions): string {
  const apiVersion = `authorization.k8s.io/${version}`;
  return JSON.stringify({ kind: "SubjectAccessReview", apiVersion, metadata: {}, spec, status: { allowed: false } });
}

function resourceAttributes(attributes: Attributes & { kind: "resource" }, withSelectors: boolean): JsonObject {
  const { namespace, verb, group, version, resource, subresource, name } = attributes;
  const given = { namespace, verb, group, version, resource, subresource, name };
  const texts = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  return withSelectors ? { ...texts, ...selectorFields(attributes) } : texts;
}

function selectorFields(attributes: Attributes): JsonObject {
  const { fields, labels } = selectorsOf(attributes);
  const fieldRequirements = fields.map(({ label, operator, value }) => ({
    key: label,
    operator: operator === "=" ? "In" : "NotIn",
    values: [value],
  }));
  const labelRequirements = labels.flatMap(labelRequirement);
  return {
    ...(fieldRequirements.length === 0 ? {} : { fieldSelector: { requirements: fieldRequirements } }),
    ...(labelRequirements.length === 0 ? {} : { labelSelector: { requirements: labelRequirements } }),
  };
}

const operators: Readonly<Record<LabelRequirement["operator"], string | undefined>> = {
  "=": "In",
  "==": "In",
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
  // Reviews lack these operators. Asking without them makes the question broader.
  gt: undefined,
  lt: undefined,
};

function labelRequirement({ key, operator, values }: LabelRequirement): JsonObject[] {
  const known = operators[operator];
  if (known === undefined) return [];
  return [values.length === 0 ? { key, operator: known } : { key, operator: known, values: [...values] }];
}

/** Converts extra values. Clients choose the keys, so the object has no prototype. */
function extraOf(extra: ReadonlyMap<string, readonly string[]>): JsonObject {
  const object = emptyJsonObject();
  for (const key of [...extra.keys()].sort()) object[key] = [...(extra.get(key) ?? [])];
  return object;
}
