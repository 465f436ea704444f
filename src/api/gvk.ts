export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}
export interface GroupResource {
  readonly group: string;
  /** The plural, as in the URL. */
  readonly resource: string;
}
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** `v1` or `apps/v1`. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Undefined when the text has more than one slash. */
export function parseApiVersion(text: string): GroupVersion | undefined {
  const parts = text.split("/");
  if (parts.length === 1) return { group: "", version: text };
  if (parts.length !== 2) return undefined;
  return { group: parts[0] as string, version: parts[1] as string };
}

/** `pods` or `deployments.apps`: how messages name a resource. */
export function groupResourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** `Pod` or `Deployment.apps`. */
export function groupKindText({ group, kind }: { group: string; kind: string }): string {
  return group === "" ? kind : `${kind}.${group}`;
}
