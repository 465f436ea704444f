import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Status } from "../api/status.ts";
import type { Admission } from "./admission.ts";
import type { WriteContext } from "./write-context.ts";

/** Target and sender of a posted body. */
export interface ActionRequest extends WriteContext {
  /** The resource in the path: `pods` for `pods/x/eviction`, `tokenreviews` for a review. */
  readonly info: ResourceInfo;
  /** "" for a kind that is posted to its collection. */
  readonly subresource: string;
  /** "" for cluster scope. */
  readonly namespace: string;
  /** The name in the path, "" for a kind that is posted to its collection. */
  readonly name: string;
}

/**
 * Handles a POST whose body is an instruction or a question and is not itself stored: reviews, bindings, evictions,
 * token requests. The body has its defaults and has passed admission as a CREATE. The answer is sent with 201: an
 * object of the body's kind, or a Status of any code.
 */
export interface Action {
  /** Other apiVersions that are accepted for the same body. */
  readonly aliases?: readonly string[];
  /** Keeps the body's system fields: one posted to an object may name the uid that it expects. */
  readonly keepsSystemFields?: boolean;
  /** @throws StatusError */
  run(request: ActionRequest, body: KubeObject): Promise<KubeObject | Status>;
}

/** Admission for writes that follow from an action, whose body has already passed admission. */
export const alreadyAdmitted: Admission = { admit() {}, validate() {} };
