import type { GroupVersionKind } from "../../api/gvk.ts";
import { type ResourceInfo, storedInfo } from "../../api/scheme/resource.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { type AdmissionRule, type RuleTarget, ruleMatches } from "./rule.ts";

/** The version of the resource in which a rule wants to see a request. */
export interface MatchedResource {
  readonly info: ResourceInfo;
  /** The kind of its documents, which a subresource may have of its own. */
  readonly kind: GroupVersionKind;
}

/** The catalog as matching reads it. */
export type ServedResources = Pick<Catalog, "all" | "generation">;

export type MatchPolicy = "Exact" | "Equivalent";

/**
 * Returns the resource that the first matching rule is about; undefined when none matches. With the policy `Equivalent`,
 * a rule also matches by another version or group of the same objects.
 */
export function matchResource(
  rules: readonly AdmissionRule[],
  policy: MatchPolicy,
  attributes: AdmissionAttributes,
  catalog: ServedResources,
): MatchedResource | undefined {
  const { requested, kind } = attributes;
  if (rules.some((rule) => ruleMatches(rule, targetOf(attributes, requested)))) return { info: requested, kind };
  if (policy === "Exact") return undefined;
  let equivalents: readonly ResourceInfo[] | undefined;
  for (const rule of rules) {
    equivalents ??= equivalentsOf(attributes, catalog);
    const info = equivalents.find((one) => ruleMatches(rule, targetOf(attributes, one)));
    if (info !== undefined) return { info, kind: kindOf(info, attributes.subresource) };
  }
  return undefined;
}

function targetOf(attributes: AdmissionAttributes, { group, version, resource }: ResourceInfo): RuleTarget {
  const { operation, subresource } = attributes;
  return { operation, group, version, resource, subresource, namespace: namespaceOf(attributes) };
}

/** Returns the namespace of a request, which is the object itself where a Namespace is written. */
export function namespaceOf({
  info,
  namespace,
  name,
}: Pick<AdmissionAttributes, "info" | "namespace" | "name">): string {
  return namespace === "" && info.group === "" && info.resource === "namespaces" ? name : namespace;
}

/** Returns the other served versions of the resource that have the subresource too. */
function equivalentsOf(
  { requested, info, subresource }: AdmissionAttributes,
  catalog: ServedResources,
): ResourceInfo[] {
  return versionsOf(storedInfo(info), catalog).filter(
    (one) => one !== requested && (subresource === "" || one.subresources.has(subresource)),
  );
}

/** The served versions of each stored form, until a kind is added or removed. */
interface KnownVersions {
  readonly generation: number;
  readonly byForm: ReadonlyMap<ResourceInfo, readonly ResourceInfo[]>;
}
const known = new WeakMap<ServedResources, KnownVersions>();

function versionsOf(stored: ResourceInfo, catalog: ServedResources): readonly ResourceInfo[] {
  const generation = catalog.generation();
  let versions = known.get(catalog);
  if (versions?.generation !== generation) {
    versions = { generation, byForm: Map.groupBy(catalog.all(), storedInfo) };
    known.set(catalog, versions);
  }
  return versions.byForm.get(stored) ?? [];
}

function kindOf(info: ResourceInfo, subresource: string): GroupVersionKind {
  return (subresource === "" ? undefined : info.subresources.get(subresource)?.gvk) ?? info;
}
