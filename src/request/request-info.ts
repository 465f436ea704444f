/** A request, parsed once from the raw path. The authorizer, the dispatcher and the storage key all derive from this one value. */
export type RequestInfo = ResourceRequest | NonResourceRequest;

/** The empty verb is that of a method that no resource has. */
export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection"
  | "proxy"
  | "";

export interface ResourceRequest {
  readonly kind: "resource";
  readonly verb: Verb;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** "" for none. */
  readonly subresource: string;
  /** "" for cluster scope or all namespaces. */
  readonly namespace: string;
  /** "" for a collection. For list and watch with `metadata.name=x` selected: x. */
  readonly name: string;
  /** True when `name` was part of the path, not of a field selector. */
  readonly nameInPath: boolean;
  /** The path begins with `watch/`, as those of old clients do. Absent means false. */
  readonly isWatchPath?: boolean;
  /** Whether the path continues below a subresource, where nothing is served. Absent means false. */
  readonly isBeyond?: boolean;
  /** The path could be read in another way as well, so nothing is served there. Absent means false. */
  readonly isAmbiguous?: boolean;
  readonly query: Query;
}
export interface NonResourceRequest {
  readonly kind: "nonResource";
  /** The lower-case HTTP method. */
  readonly verb: string;
  readonly path: string;
  /** The path could be read in another way as well, so nothing is served there. Absent means false. */
  readonly isAmbiguous?: boolean;
  readonly query: Query;
}

/** Decoded query parameters, with the values of each in order. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** Returns the first value, or "". Upstream reads every single-valued parameter this way. */
export function queryValue(query: Query, name: string): string {
  return query.get(name)?.[0] ?? "";
}

/** Returns false for an absent value, `0`, and `false` in any case. Any other value is true, even the empty one. */
export function queryFlag(query: Query, name: string): boolean {
  const value = query.get(name)?.[0];
  return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
}
