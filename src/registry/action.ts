import type { Admission } from "./admission.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Status } from "../api/status.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { WriteContext } from "./write-context.ts";

/** Where a body was posted, and by whom. */
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
 * A POST whose body is an order or a question and is not stored as it is: reviews, bindings, evictions, token requests.
 * The body has its defaults and passed mutating and validating admission as a CREATE. The answer is sent with 201:
 * an object of the body's kind, or a Status, whose own code does not change that.
 */
export interface Action {
  /** Other apiVersions under which the same body comes. */
  readonly aliases?: readonly string[];
  /** Posted to an object, the body may name the uid that it expects there. */
  readonly keepsSystemFields?: boolean;
  /** @throws StatusError */
  run(request: ActionRequest, body: KubeObject): Promise<KubeObject | Status>;
}

/** For what an action writes in consequence: admission has judged the body, which is what the client wrote. */
export const alreadyAdmitted: Admission = { admit: async () => {}, validate: async () => {} };
