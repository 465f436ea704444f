import type { GroupResource, GroupVersion } from "../api/gvk.ts";
import type { JsonObject, JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Status } from "../api/status.ts";
import type { DeleteOptions as DeleteDocument, ListMeta } from "../api/types/meta-v1.ts";

declare const objectType: unique symbol;

/** A resource in one version, with the type of its objects: `const pods: ResourceType<Pod> = { group: "", … }`. */
export interface ResourceType<T extends KubeObject = KubeObject> extends GroupVersion, GroupResource {
  readonly [objectType]?: T;
}

export interface ObjectName {
  /** Absent for a cluster-scoped object. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** A subresource such as `status` or `scale`, instead of the object itself. */
  readonly subresource?: string | undefined;
}

export interface RequestOptions {
  /** Aborts the request, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of the whole answer, or of the start of a watch. */
  readonly timeoutMs?: number | undefined;
}

export interface GetOptions extends RequestOptions {
  /** `0` for any state that the server has; absent for the newest. */
  readonly resourceVersion?: string | undefined;
}

export interface Selector {
  /** Absent for all namespaces and for cluster-scoped resources. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selector, RequestOptions {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
  /** Number of objects in one answer. Its `continue` token gets the rest. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

export interface WatchOptions extends Selector, RequestOptions {
  /** Version after which events are sent. With `0` or without one, the current state is sent first. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "NotOlderThan" | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  /** Time after which the server ends the watch. */
  readonly timeoutSeconds?: number | undefined;
}

export interface WriteOptions extends RequestOptions {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
}

export interface JsonPatchOperation extends JsonObject {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
}

export type Patch =
  | { readonly kind: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly kind: "merge" | "strategic"; readonly document: JsonObject }
  /** Server-side apply, which needs a `fieldManager`. `force` takes over fields of other managers. */
  | { readonly kind: "apply"; readonly document: JsonObject; readonly force?: boolean };

export type DeleteOptions = RequestOptions &
  Omit<DeleteDocument, "kind" | "apiVersion" | "dryRun"> & { readonly dryRun?: boolean };

/** A page of a collection. Items have kind and apiVersion, as single objects do. */
export interface ObjectList<T extends KubeObject> {
  readonly metadata: ListMeta & { readonly resourceVersion: string };
  readonly items: readonly T[];
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** All events up to this version have been sent. With `endsInitialEvents`, so has the initial state. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly endsInitialEvents: boolean };

/**
 * The requests that an API server answers. An error in an answer rejects with a StatusError. A missing or incomplete
 * answer rejects with a NoAnswerError; the request may have been carried out then, and is not repeated.
 */
export interface Client extends Disposable {
  get<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, options?: GetOptions): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * Yields events until the server ends the watch or the loop is left. The server waits while the loop is busy. An ERROR
   * event is thrown as a StatusError.
   */
  watch<T extends KubeObject>(type: ResourceType<T>, options?: WatchOptions): AsyncGenerator<WatchEvent<T>, void>;
  /** Creates an object in the namespace that it names. */
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: UpdateOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Deletes an object. Returns the object if finalizers hold it, otherwise a Status. */
  delete<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, options?: DeleteOptions): Promise<T | Status>;
  /** Deletes the selected objects and returns them. */
  deleteCollection<T extends KubeObject>(
    type: ResourceType<T>,
    selector: Selector,
    options?: DeleteOptions,
  ): Promise<ObjectList<T>>;
  /** Posts a document to a subresource such as `binding`, `eviction` or `token`, and returns its answer. */
  act(type: ResourceType, of: ObjectName, body: JsonObject, options?: WriteOptions): Promise<JsonValue>;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: string | undefined;
}
