import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Status } from "../api/status.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { Entry } from "../api/entry.ts";

/** The circumstances of a write: its user, its manager, and the places for warnings and annotations. */
export interface WriteContext {
  readonly user: UserInfo;
  /** Owner of the changed fields in managedFields. */
  readonly manager: string;
  readonly dryRun: boolean;
  /** The version that the writer uses, when it is not the stored one. */
  readonly version?: ResourceInfo | undefined;
  /** The fields of the request's CreateOptions, UpdateOptions or PatchOptions; by default none is set. */
  readonly options?: JsonObject | undefined;
  /** Time at which the request is given up, in milliseconds since the epoch; by default never. */
  readonly deadlineMs?: number | undefined;
  /** Aborts when nobody waits for the outcome any more. */
  readonly signal?: AbortSignal | undefined;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate?(key: string, value: string): void;
  /** Adds an annotation that quotes the request, if the audit records bodies of requests. */
  annotateBody?(key: string, value: () => string): void;
}

/** The outcome of a write. `entry` is undefined for a dry run: then only the decoded object exists. */
export interface WriteResult {
  readonly object: KubeObject;
  readonly entry: Entry | undefined;
  readonly created: boolean;
  /** The last write removed the object (its last finalizer is gone). */
  readonly removed: boolean;
}

export interface DeleteResult {
  /** True once the object is gone from the store. */
  readonly removed: boolean;
  readonly code: 200 | 202;
  /** A Status, or the object in its last or terminating state. */
  readonly answer:
    | { readonly kind: "status"; readonly status: Status }
    | { readonly kind: "object"; readonly object: KubeObject; readonly entry: Entry | undefined };
}
