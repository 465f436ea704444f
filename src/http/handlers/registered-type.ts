import { apiVersionOf, type GroupVersion, type GroupVersionKind } from "../../api/gvk.ts";
import { formerKinds } from "../../api/scheme/former-kinds.ts";
import { goType } from "../../api/scheme/go-type.ts";
import { metaKinds } from "../../api/scheme/meta-kinds.ts";
import { registeredVersions } from "../../api/scheme/registered-versions.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";

/** The resources that accept bodies. */
export interface KnownKinds {
  all(): readonly ResourceInfo[];
}

/** A type that upstream can read, by its names in errors. */
export interface RegisteredType {
  /** `v1beta1.Scale`. */
  readonly source: string;
  /** Type that all versions are converted to: `autoscaling.Scale`. */
  readonly internal: string;
}

/** Kinds that are the same in every version. */
const unversionedKinds: ReadonlySet<string> = new Set([
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "Status",
]);

/** Groups that upstream serves from separate programs, which only know the kinds of the group. */
const separateGroups: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

function programOf(group: string): string {
  return separateGroups.has(group) ? group : "";
}

/**
 * Returns the type that upstream reads a body as.
 * @param wanted the kind that is expected, whose former versions have its internal type
 * @returns undefined for a kind that the program serving the expected group does not know
 */
export function registeredType(
  gvk: GroupVersionKind,
  wanted: GroupVersionKind,
  internal: GroupVersionKind,
  known: KnownKinds,
): RegisteredType | undefined {
  const { group, version, kind } = gvk;
  if (unversionedKinds.has(kind)) return { source: `v1.${kind}`, internal: `v1.${kind}` };
  const isOwn = programOf(group) === programOf(wanted.group);
  const isCore = group === "" && version === "v1";
  if (metaKinds.has(kind)) {
    const isRegistered = isCore || (isOwn && registeredVersions.some((each) => isOf(gvk, each)));
    return isRegistered ? { source: `v1.${kind}`, internal: `v1.${kind}` } : undefined;
  }
  if (!isOwn) return undefined;
  const source = `${version}.${kind}`;
  if (formerKinds.get(apiVersionOf(gvk))?.includes(kind) === true) {
    return { source, internal: kind === wanted.kind ? goType(internal) : goType({ group, kind }) };
  }
  const found = internalTypeOf(gvk, known);
  return found === undefined ? undefined : { source, internal: found };
}

/** Returns upstream's name of the internal type of a kind, which all versions of its group share. */
export function internalTypeOfKind(group: string, kind: string, known: KnownKinds): string | undefined {
  if (unversionedKinds.has(kind)) return `v1.${kind}`;
  for (const info of known.all()) {
    if (info.group !== group) continue;
    const internal = info.storedAs?.info ?? info;
    if (info.kind === kind) return goType(internal);
    if (info.listKind === kind) return goType({ group: internal.group, kind });
    for (const { gvk } of info.subresources.values()) if (gvk.kind === kind) return goType(gvk);
  }
  return undefined;
}

function internalTypeOf(gvk: GroupVersionKind, known: KnownKinds): string | undefined {
  for (const info of known.all()) {
    if (isOf(gvk, info)) {
      const internal = info.storedAs?.info ?? info;
      if (info.kind === gvk.kind) return goType(internal);
      if (info.listKind === gvk.kind) return goType({ group: internal.group, kind: info.listKind });
    }
    for (const { gvk: body } of info.subresources.values()) {
      if (isOf(gvk, body) && body.kind === gvk.kind) return goType(body);
    }
  }
  return undefined;
}

function isOf(gvk: GroupVersionKind, { group, version }: GroupVersion): boolean {
  return gvk.group === group && gvk.version === version;
}
