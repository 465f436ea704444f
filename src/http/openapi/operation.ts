import { type GroupVersion, type GroupVersionKind } from "../../api/gvk.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { groupVersionPath } from "../../client/resource-path.ts";
import type { DocumentType } from "./document-type.ts";

export type HttpMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";
type Action =
  | "get"
  | "list"
  | "watch"
  | "watchlist"
  | "post"
  | "put"
  | "patch"
  | "delete"
  | "deletecollection"
  | "connect";

/** One call of the API, in terms that both dialects can express. */
export interface Operation {
  readonly path: string;
  readonly method: HttpMethod;
  /** Undefined, like `gvk`, for paths that do not concern objects. */
  readonly action: Action | undefined;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly gvk: GroupVersionKind | undefined;
  readonly queryParameters: readonly QueryParameter[];
  /** Type of the request body; `patch` for the body of a PATCH. */
  readonly body: DocumentType | "patch" | undefined;
  /** A type, a text, or the answer of `/version`. */
  readonly response: DocumentType | "text" | "version";
  /** Whether the document has a protobuf form and accepts strategic merge patches. */
  readonly isBuiltIn: boolean;
  /** Media types of the response; undefined for the usual ones of documents. */
  readonly produces?: readonly string[];
}
export interface QueryParameter {
  readonly name: string;
  readonly type: "string" | "boolean" | "integer";
  readonly description: string;
}

/** Looks up a generated type: `meta/v1.Status`. */
export type TypeLookup = (name: string) => StructSchema;

export const listParameters: readonly QueryParameter[] = [
  parameter("allowWatchBookmarks", "boolean", "Request watch events that carry only a resource version."),
  parameter("continue", "string", "Token of the next page, from the metadata of the previous page."),
  parameter("fieldSelector", "string", "Limit the result to objects with these field values."),
  parameter("labelSelector", "string", "Limit the result to objects whose labels match."),
  parameter("limit", "integer", "Maximum number of objects in one page."),
  parameter("resourceVersion", "string", "Minimum freshness of the answer, or the start of a watch."),
  parameter("resourceVersionMatch", "string", "How resourceVersion is interpreted: Exact or NotOlderThan."),
  parameter("sendInitialEvents", "boolean", "Start a watch with the current objects as events."),
  parameter("shardSelector", "string", "Limit the result to a shard; requires a feature gate that is off."),
  parameter("timeoutSeconds", "integer", "End the call after this time."),
  parameter("watch", "boolean", "Stream changes instead of a list."),
];

/** Returns the group version as in operation ids: `CoreV1`, `RbacAuthorizationV1`. */
export function operationGroup({ group, version }: GroupVersion): string {
  return `${groupWords(group).map(capitalized).join("")}${capitalized(version)}`;
}

/** Returns the tag of the operations of a group version: `core_v1`. */
export function operationTag({ group, version }: GroupVersion): string {
  return `${groupTag(group)}_${version}`;
}

/** `core`, `rbacAuthorization`. */
export function groupTag(group: string): string {
  const [first = "", ...rest] = groupWords(group);
  return `${first}${rest.map(capitalized).join("")}`;
}

/** `Core`, `RbacAuthorization`. */
export function groupTitle(group: string): string {
  return groupWords(group).map(capitalized).join("");
}

/** A resource with the names from which its operations are named. */
export class Scope {
  readonly info: ResourceInfo;
  readonly typeOf: TypeLookup;
  readonly group: string;
  readonly tag: string;
  /** `Namespaced` before the kind in operation ids, or "". */
  readonly namespaced: string;
  readonly collectionPath: string;

  constructor(info: ResourceInfo, typeOf: TypeLookup) {
    this.info = info;
    this.typeOf = typeOf;
    this.group = operationGroup(info);
    this.tag = operationTag(info);
    this.namespaced = info.namespaced ? "Namespaced" : "";
    this.collectionPath = `${groupVersionPath(info)}${info.namespaced ? "/namespaces/{namespace}" : ""}/${info.resource}`;
  }

  get itemPath(): string {
    return `${this.collectionPath}/{name}`;
  }

  /** Names an operation. `prefix` is the verb, `suffix` a subresource. */
  operation(
    prefix: string,
    suffix: string,
    rest: Omit<Operation, "id" | "tag" | "gvk" | "isBuiltIn"> & { gvk?: GroupVersionKind },
  ): Operation {
    const id = `${prefix}${this.namespaced}${this.info.kind}${suffix}`;
    return { gvk: this.info, ...rest, id, tag: this.tag, isBuiltIn: this.info.form.kind === "struct" };
  }
}

function groupWords(group: string): string[] {
  if (group === "") return ["core"];
  return (group.endsWith(".k8s.io") ? group.slice(0, -".k8s.io".length) : group).split(/[.-]/);
}

export function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

export function parameter(name: string, type: QueryParameter["type"], description: string): QueryParameter {
  return { name, type, description };
}
