import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import { apiRelease } from "../release.ts";
import type { Deprecation, ResourceInfo } from "./resource.ts";

/** Lifecycle of a version in the generated data; releases look like `1.35`. */
interface Lifecycle {
  readonly kind: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** "group,version,kind" */
  readonly replacement?: string;
}

/** Stable kinds that are deprecated but will never be removed, which the generated data lacks. */
const deprecatedForGood: Readonly<Record<string, Deprecation>> = {
  "v1/ComponentStatus": { since: "1.19", removedIn: "" },
  "v1/Endpoints": {
    since: "1.33",
    removedIn: "",
    replacement: { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice" },
  },
};

/** Returns the deprecation of a version; undefined if the served release does not deprecate it. */
export function deprecationOf(
  { kind, deprecated, removed = "", replacement }: Lifecycle,
  at: { readonly group: string; readonly version: string },
): Deprecation | undefined {
  const known = deprecatedForGood[`${apiVersionOf(at)}/${kind}`];
  if (known !== undefined) return known;
  if (deprecated === undefined || minorOf(deprecated) > minorOf(apiRelease)) return undefined;
  const [group, version, replacementKind] = (replacement ?? "").split(",");
  if (group === undefined || version === undefined || replacementKind === undefined) {
    return { since: deprecated, removedIn: removed };
  }
  return { since: deprecated, removedIn: removed, replacement: { group, version, kind: replacementKind } };
}

/** Returns the text of the Warning header: `policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, …`. */
export function deprecationWarning(info: ResourceInfo, deprecation: Deprecation): string {
  const { since, removedIn, replacement, warning } = deprecation;
  if (warning !== undefined) return warning;
  const removed = removedIn === "" ? "" : `, unavailable in v${removedIn}+`;
  const instead = replacement === undefined ? "" : `; use ${nameOf(replacement)}`;
  return `${nameOf(info)} is deprecated in v${since}+${removed}${instead}`;
}

function nameOf(gvk: GroupVersionKind): string {
  return `${apiVersionOf(gvk)} ${gvk.kind}`;
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf(".") + 1));
}
