import { type FieldTerm, parseFieldSelector } from "../../api/field-selector.ts";
import { type LabelRequirement, parseLabelSelector } from "../../api/label-selector.ts";
import { type Query, queryValue } from "../../request/request-info.ts";

/**
 * The attributes of an authorization question. A RequestInfo has them; reviews, impersonation and admission make others.
 */
export type Attributes = ResourceAttributes | NonResourceAttributes;

export interface ResourceAttributes {
  readonly kind: "resource";
  /** The verb of a request, or a special one such as `bind`, `impersonate` or, in a review, `*`. */
  readonly verb: string;
  readonly group: string;
  /** Version; `*` in a review without one. */
  readonly version: string;
  readonly resource: string;
  /** Subresource, or "". */
  readonly subresource: string;
  /** Namespace; "" for cluster scope or all namespaces. */
  readonly namespace: string;
  /** Name, or "". */
  readonly name: string;
  /** The query that contains the selectors of a request. */
  readonly query?: Query;
  /** Selectors of a review. */
  readonly selectors?: Selectors;
}

export interface NonResourceAttributes {
  readonly kind: "nonResource";
  readonly verb: string;
  readonly path: string;
}

/** Requirements on every object that is read or deleted. */
export interface Selectors {
  readonly fields: readonly FieldTerm[];
  readonly labels: readonly LabelRequirement[];
}

const noSelectors: Selectors = { fields: [], labels: [] };
const selectingVerbs = new Set(["list", "watch", "deletecollection"]);

/** Returns the selectors to authorize. Omits invalid ones, which only makes the question broader. */
export function selectorsOf(attributes: Attributes): Selectors {
  if (attributes.kind === "nonResource") return noSelectors;
  if (attributes.selectors !== undefined) return attributes.selectors;
  const { query, verb } = attributes;
  if (query === undefined || query.size === 0 || !selectingVerbs.has(verb)) return noSelectors;
  return {
    fields: orNone(() => parseFieldSelector(queryValue(query, "fieldSelector")).terms),
    labels: orNone(() => parseLabelSelector(queryValue(query, "labelSelector")).requirements),
  };
}

function orNone<T>(parse: () => readonly T[]): readonly T[] {
  try {
    return parse();
  } catch {
    return [];
  }
}

/** Formats `pods` or `pods/log` as in rules. */
export function resourceText({ resource, subresource }: ResourceAttributes): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}
