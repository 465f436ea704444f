import { type FieldTerm, parseFieldSelector } from "../../api/field-selector.ts";
import { type LabelRequirement, parseLabelSelector } from "../../api/label-selector.ts";
import { type Query, queryValue } from "../../request/request-info.ts";

/** What an authorizer is asked about. A RequestInfo is one; reviews, impersonation and admission make others. */
export type Attributes = ResourceAttributes | NonResourceAttributes;

export interface ResourceAttributes {
  readonly kind: "resource";
  /** A request's verb, or a special one such as `bind`, `impersonate` or, in a review, `*`. */
  readonly verb: string;
  readonly group: string;
  /** `*` in a review that names none. */
  readonly version: string;
  readonly resource: string;
  /** "" for none. */
  readonly subresource: string;
  /** "" for cluster scope or all namespaces. */
  readonly namespace: string;
  /** "" for none. */
  readonly name: string;
  /** Where the selectors of a request stand. */
  readonly query?: Query;
  /** The selectors of a review. */
  readonly selectors?: Selectors;
}

export interface NonResourceAttributes {
  readonly kind: "nonResource";
  readonly verb: string;
  readonly path: string;
}

/** All requirements hold of every object that is read or deleted. */
export interface Selectors {
  readonly fields: readonly FieldTerm[];
  readonly labels: readonly LabelRequirement[];
}

const noSelectors: Selectors = { fields: [], labels: [] };
const selectingVerbs = new Set(["list", "watch", "deletecollection"]);

/** The selection that is authorized. What cannot be parsed is left out: that only makes the question broader. */
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

/** `pods` or `pods/log`: how rules name it. */
export function resourceText({ resource, subresource }: ResourceAttributes): string {
  return subresource === "" ? resource : `${resource}/${subresource}`;
}
