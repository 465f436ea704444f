import { StatusError } from "../../api/status.ts";
import type { MatchResources, NamedRuleWithOperations } from "../../api/types/admissionregistration-v1.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import {
  type MatchedResource,
  type MatchPolicy,
  matchResource,
  type ServedResources,
} from "../matching/matched-resource.ts";
import { type AdmissionRule, admissionRule } from "../matching/rule.ts";
import { matchesNamespace, matchesObject, selectorOf } from "../matching/selectors.ts";

interface NamedRule {
  readonly rule: AdmissionRule;
  /** Empty for all names. */
  readonly names: readonly string[];
}

/** Inputs of a match besides the request. */
export interface MatchParts {
  readonly lookup: ObjectLookup;
  readonly catalog: ServedResources;
}

/** Decides which requests a policy or a binding is for. */
export class PolicyMatch {
  readonly #namespaces: ReturnType<typeof selectorOf>;
  readonly #objects: ReturnType<typeof selectorOf>;
  readonly #rules: readonly NamedRule[];
  readonly #excluded: readonly NamedRule[];
  readonly #policy: MatchPolicy;

  constructor(resources: MatchResources) {
    this.#namespaces = selectorOf(resources.namespaceSelector);
    this.#objects = selectorOf(resources.objectSelector);
    this.#rules = namedRules(resources.resourceRules);
    this.#excluded = namedRules(resources.excludeResourceRules);
    this.#policy = resources.matchPolicy === "Exact" ? "Exact" : "Equivalent";
  }

  /**
   * Returns the resource that matched; undefined if none did. Without rules every resource matches.
   * @throws StatusError 404 for a request that matches except for its namespace, which does not exist
   */
  match(attributes: AdmissionAttributes, { lookup, catalog }: MatchParts): MatchedResource | undefined {
    const { object, oldObject } = attributes;
    const namespaceMatch = matchesNamespace(this.#namespaces, attributes, object, lookup);
    if (namespaceMatch === false || !matchesObject(this.#objects, object, oldObject)) return undefined;
    const find = (rules: readonly NamedRule[]) =>
      matchResource(ofName(rules, attributes.name), this.#policy, attributes, catalog);
    if (this.#excluded.length > 0 && find(this.#excluded) !== undefined) return undefined;
    const { requested, kind } = attributes;
    const matched = this.#rules.length === 0 ? { info: requested, kind } : find(this.#rules);
    if (matched !== undefined && namespaceMatch instanceof StatusError) throw namespaceMatch;
    return matched;
  }
}

/** A match that nothing limits. */
export const everyMatch = new PolicyMatch({} as MatchResources);

function namedRules(rules: readonly NamedRuleWithOperations[] | undefined): NamedRule[] {
  return (rules ?? []).map((rule) => ({ rule: admissionRule(rule), names: rule.resourceNames ?? [] }));
}

function ofName(rules: readonly NamedRule[], name: string): AdmissionRule[] {
  return rules.filter(({ names }) => names.length === 0 || names.includes(name)).map(({ rule }) => rule);
}
