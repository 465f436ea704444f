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

/** Returns `v1` or `apps/v1`. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Parses an apiVersion; undefined if it has more than one slash. */
export function parseApiVersion(text: string): GroupVersion | undefined {
  const parts = text.split("/");
  if (parts.length === 1) return { group: "", version: text };
  if (parts.length !== 2) return undefined;
  return { group: parts[0] as string, version: parts[1] as string };
}

/** Formats the type of a document as Go prints it: `apps/v1, Kind=Deployment`. The core group is empty. */
export function documentTypeText(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf("/");
  return `${slash === -1 ? `/${apiVersion}` : apiVersion}, Kind=${kind}`;
}

/** Formats a resource as messages do: `pods` or `deployments.apps`. */
export function groupResourceText({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** Formats a kind as `Pod` or `Deployment.apps`. */
export function groupKindText({ group, kind }: { group: string; kind: string }): string {
  return group === "" ? kind : `${kind}.${group}`;
}
