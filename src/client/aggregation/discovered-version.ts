import type { GroupVersion, GroupVersionKind } from "../../api/gvk.ts";

/** A resource of an extension server, from its discovery document. */
export interface DiscoveredResource {
  readonly resource: string;
  /** The kind; its parts are empty if the server does not name it. */
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
   * `Stale`: the last attempt to read its resources failed; these are from the last successful one. `Pending`: there was
   * no attempt yet.
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
