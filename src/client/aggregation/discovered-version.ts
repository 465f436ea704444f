import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";

/** A resource of an extension server, as its discovery describes it. */
export interface DiscoveredResource {
  readonly resource: string;
  /** Empty texts where the server does not name the kind. */
  readonly responseKind: GroupVersionKind;
  readonly scope: "Namespaced" | "Cluster";
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  readonly subresource: string;
  readonly responseKind: GroupVersionKind;
  readonly acceptedTypes: readonly GroupVersionKind[];
  readonly verbs: readonly string[];
}

/** A group version that an extension server serves. */
export interface DiscoveredVersion extends GroupVersion {
  /**
   * `Stale`: the last attempt to read its resources failed; they are those of the last successful one.
   * `Pending`: there was no attempt yet.
   */
  readonly freshness: "Current" | "Stale" | "Pending";
  readonly resources: readonly DiscoveredResource[];
}

/** The group versions that extension servers serve. */
export interface DiscoveredVersions {
  versions(): readonly DiscoveredVersion[];
  /** Calls `run` after each change of the versions. It must not throw or wait. */
  follow(run: () => void): Disposable;
}
