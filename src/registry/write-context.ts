import type { Entry } from "../api/entry.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Status } from "../api/status.ts";
import type { UserInfo } from "../request/user-info.ts";

/** The circumstances of a write: its user, its manager, and the places for warnings and annotations. */
export interface WriteContext {
  readonly user: UserInfo;
  /** Owner of the changed fields in managedFields. */
  readonly manager: string;
  readonly dryRun: boolean;
  /** True for a deletion that was already allowed, so that no plugin checks it again. */
  readonly skipsAdmission?: true;
  /** Verb of the request; absent for a write that the server makes itself. */
  readonly verb?: string;
  /** Version that the writer uses, if it is not the stored one. */
  readonly version?: ResourceInfo | undefined;
  /** Fields of the request's CreateOptions, UpdateOptions or PatchOptions; empty by default. */
  readonly options?: JsonObject | undefined;
  /** Deadline on the steady clock; by default none. */
  readonly deadlineMs?: number | undefined;
  /** Returns a signal, made on first use, that aborts when the client no longer waits. */
  readonly signal?: (() => AbortSignal) | undefined;
  /** Reports whether the client no longer waits; by default it always does. */
  readonly isAbandoned?: (() => boolean) | undefined;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate?(key: string, value: string): void;
  /** Adds an annotation that quotes the request, if the audit records bodies of requests. */
  annotateBody?(key: string, value: () => string): void;
  /** Notes time that was spent waiting for webhooks. */
  webhooksTook?(ms: number): void;
}

/** Outcome of a write. `entry` is undefined for a dry run, which has only the decoded object. */
export interface WriteResult {
  readonly object: KubeObject;
  readonly entry: Entry | undefined;
  readonly created: boolean;
  /** True if the write removed the object, because its last finalizer is gone. */
  readonly removed: boolean;
}

export interface DeleteResult {
  /** True if the object has been removed from the store. */
  readonly removed: boolean;
  readonly code: 200 | 202;
  /** A Status, or the object in its last or terminating state. */
  readonly answer:
    | { readonly kind: "status"; readonly status: Status }
    | { readonly kind: "object"; readonly object: KubeObject; readonly entry: Entry | undefined };
}
