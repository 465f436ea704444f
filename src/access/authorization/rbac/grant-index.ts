import type { Attributes } from "../attributes.ts";
import { type PolicyRule, urlPrefix } from "./policy-rule.ts";

/**
 * Maximum number of combinations of a rule that are indexed verb by verb, because one object could name billions. A wider
 * rule is kept unchanged and checked in turn.
 */
const combinationsMax = 4_096;

/** The sources of a verb on a resource: for any name, or for some names. */
interface Grant<Source> {
  any: Source | undefined;
  names: Map<string, Source> | undefined;
}
type VerbGrants<Source> = Map<string, Grant<Source>>;

interface WideRule<Source> {
  readonly apiGroups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly source: Source;
}

interface PrefixGrant<Source> {
  readonly prefix: string;
  readonly verbs: Map<string, Source>;
}

/** One action on resources. */
export interface ResourceAction {
  readonly group: string;
  readonly resource: string;
  /** Subresource, or "". */
  readonly subresource: string;
  readonly verb: string;
  /** The name; undefined for every name, which only a rule without names grants. */
  readonly name: string | undefined;
}

/**
 * Rules indexed by group → resource → verb → names, so that a decision takes the same few look-ups for any number of
 * rules. `Source` is the value with which an allowing rule was added.
 */
export class GrantIndex<Source> {
  readonly #groups = new Map<string, Map<string, VerbGrants<Source>>>();
  readonly #wide: WideRule<Source>[] = [];
  readonly #paths = new Map<string, Map<string, Source>>();
  readonly #prefixes = new Map<string, PrefixGrant<Source>>();

  add(rule: PolicyRule, source: Source): void {
    const { apiGroups, resources, verbs, resourceNames } = rule;
    const combinations = apiGroups.length * resources.length * verbs.length * Math.max(1, resourceNames.length);
    if (combinations > combinationsMax) this.#addWide(rule, source);
    else this.#addCombinations(rule, source);
    for (const pattern of rule.nonResourceURLs) {
      const granted = this.#urlGrants(pattern);
      for (const verb of verbs) if (!granted.has(verb)) granted.set(verb, source);
    }
  }

  /** Returns the source of an allowing rule, or undefined. */
  find(attributes: Attributes): Source | undefined {
    return attributes.kind === "resource"
      ? this.findAction(attributes)
      : this.findPath(attributes.path, attributes.verb);
  }

  findAction(action: ResourceAction): Source | undefined {
    const { resource, subresource } = action;
    const full = subresource === "" ? resource : `${resource}/${subresource}`;
    const found = findIn(this.#groups.get(action.group), full, action) ?? findIn(this.#groups.get("*"), full, action);
    if (found !== undefined || this.#wide.length === 0) return found;
    return this.#wide.find((rule) => isGranted(rule, full, action))?.source;
  }

  findPath(path: string, verb: string): Source | undefined {
    const exact = grantedVerb(this.#paths.get(path), verb);
    if (exact !== undefined) return exact;
    for (const { prefix, verbs } of this.#prefixes.values()) {
      if (!path.startsWith(prefix)) continue;
      const found = grantedVerb(verbs, verb);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #addCombinations({ apiGroups, resources, verbs, resourceNames }: PolicyRule, source: Source): void {
    for (const group of apiGroups) {
      const byResource = entryOf(this.#groups, group, newMap<VerbGrants<Source>>);
      for (const resource of resources) {
        const byVerb = entryOf(byResource, resource, newMap<Grant<Source>>);
        for (const verb of verbs) addGrant(byVerb, verb, resourceNames, source);
      }
    }
  }

  #addWide(rule: PolicyRule, source: Source): void {
    this.#wide.push({
      apiGroups: new Set(rule.apiGroups),
      resources: new Set(rule.resources),
      verbs: new Set(rule.verbs),
      names: new Set(rule.resourceNames),
      source,
    });
  }

  #urlGrants(pattern: string): Map<string, Source> {
    if (!pattern.endsWith("*")) return entryOf(this.#paths, pattern, newMap<Source>);
    const prefix = urlPrefix(pattern);
    return entryOf(this.#prefixes, prefix, () => ({ prefix, verbs: new Map<string, Source>() })).verbs;
  }
}

function addGrant<Source>(byVerb: VerbGrants<Source>, verb: string, names: readonly string[], source: Source): void {
  const grant = entryOf(byVerb, verb, (): Grant<Source> => ({ any: undefined, names: undefined }));
  if (names.length === 0) {
    grant.any ??= source;
    return;
  }
  grant.names ??= new Map();
  for (const name of names) if (!grant.names.has(name)) grant.names.set(name, source);
}

function findIn<Source>(
  resources: Map<string, VerbGrants<Source>> | undefined,
  full: string,
  action: ResourceAction,
): Source | undefined {
  if (resources === undefined) return undefined;
  const found = grantedBy(resources.get(full), action) ?? grantedBy(resources.get("*"), action);
  if (found !== undefined || action.subresource === "") return found;
  return grantedBy(resources.get(`*/${action.subresource}`), action);
}

function grantedBy<Source>(grants: VerbGrants<Source> | undefined, { verb, name }: ResourceAction): Source | undefined {
  if (grants === undefined) return undefined;
  return grantedName(grants.get(verb), name) ?? grantedName(grants.get("*"), name);
}

function grantedName<Source>(grant: Grant<Source> | undefined, name: string | undefined): Source | undefined {
  if (grant === undefined) return undefined;
  return grant.any ?? (name === undefined ? undefined : grant.names?.get(name));
}

function isGranted<Source>(rule: WideRule<Source>, full: string, action: ResourceAction): boolean {
  const { group, subresource, verb, name } = action;
  if (!rule.verbs.has(verb) && !rule.verbs.has("*")) return false;
  if (!rule.apiGroups.has(group) && !rule.apiGroups.has("*")) return false;
  const bySubresource = subresource !== "" && rule.resources.has(`*/${subresource}`);
  if (!rule.resources.has(full) && !rule.resources.has("*") && !bySubresource) return false;
  return rule.names.size === 0 || (name !== undefined && rule.names.has(name));
}

function grantedVerb<Source>(verbs: Map<string, Source> | undefined, verb: string): Source | undefined {
  return verbs?.get(verb) ?? verbs?.get("*");
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function newMap<Value>(): Map<string, Value> {
  return new Map();
}
