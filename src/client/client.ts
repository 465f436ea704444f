import type { JsonObject, JsonValue } from "../api/json.ts";
import type { GroupResource, GroupVersion } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Status } from "../api/status.ts";
import type { DeleteOptions as DeleteDocument, ListMeta } from "../api/types/meta-v1.ts";

declare const objectType: unique symbol;

/** A resource in one version, and the type of its objects: `const pods: ResourceType<Pod> = { group: "", … }`. */
export interface ResourceType<T extends KubeObject = KubeObject> extends GroupVersion, GroupResource {
  readonly [objectType]?: T;
}

export interface ObjectName {
  /** Absent for an object of the cluster. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** `status`, `scale` …: the document below the object instead of the object. */
  readonly subresource?: string | undefined;
}

export interface RequestOptions {
  /** Ends the request; it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** The longest wait for the whole answer; of a watch, for its beginning. */
  readonly timeoutMs?: number | undefined;
}

export interface GetOptions extends RequestOptions {
  /** `0` takes whatever the server has at hand; absent: the newest state. */
  readonly resourceVersion?: string | undefined;
}

export interface Selector {
  /** Absent: all namespaces, or the cluster. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selector, RequestOptions {
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
  /** The most objects in one answer; the rest follows with its `continue`. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

export interface WatchOptions extends Selector, RequestOptions {
  /** Events after this one. Absent or `0`: the state first. */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "NotOlderThan" | undefined;
  readonly allowWatchBookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after so long. */
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
  /** Server-side apply; needs a `fieldManager`. `force` takes fields of other managers over. */
  | { readonly kind: "apply"; readonly document: JsonObject; readonly force?: boolean };

export type DeleteOptions = RequestOptions &
  Omit<DeleteDocument, "kind" | "apiVersion" | "dryRun"> & { readonly dryRun?: boolean };

/** A page of a collection; its items have kind and apiVersion, as single objects do. */
export interface ObjectList<T extends KubeObject> {
  readonly metadata: ListMeta & { readonly resourceVersion: string };
  readonly items: readonly T[];
}

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** Everything up to here has been sent. `endsInitialEvents`: so has the state that the watch began with. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly endsInitialEvents: boolean };

/**
 * The requests of an API server. An answer that is an error rejects with a StatusError; no answer, or one that breaks
 * off, with a NoAnswerError: what was asked for may have been done then, and is not asked for again.
 */
export interface Client extends Disposable {
  get<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, options?: GetOptions): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * Events until the server ends the watch or the loop is left. The server is held up while nobody takes the next one.
   * An ERROR event is thrown as a StatusError.
   */
  watch<T extends KubeObject>(type: ResourceType<T>, options?: WatchOptions): AsyncGenerator<WatchEvent<T>, void>;
  /** The object names its namespace itself. */
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: UpdateOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, patch: Patch, options?: WriteOptions): Promise<T>;
  /** The object in its last state, where it waits for finalizers; otherwise a Status. */
  delete<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, options?: DeleteOptions): Promise<T | Status>;
  /** The objects that were to be deleted. */
  deleteCollection<T extends KubeObject>(
    type: ResourceType<T>,
    selector: Selector,
    options?: DeleteOptions,
  ): Promise<ObjectList<T>>;
  /** POSTs an order or a question to a subresource: `binding`, `eviction`, `token`. The answer is what that one gives. */
  act(type: ResourceType, of: ObjectName, body: JsonObject, options?: WriteOptions): Promise<JsonValue>;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: string | undefined;
}
