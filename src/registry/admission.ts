import type { KubeObject } from "../api/object-meta.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { SettleListener } from "./settlement.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly info: ResourceInfo;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for DELETE. Mutating plugins may change it. */
  readonly object: KubeObject | undefined;
  /** Undefined for CREATE. */
  readonly oldObject: KubeObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /** Told once how this attempt to write ended; a plugin that has counted the object learns here whether it is stored. */
  onSettled(listener: SettleListener): void;
}

/** One plugin. Both methods refuse by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Runs before validation and may change `object`. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  /** Runs last, with the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface Admission {
  admit(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}

/** Runs the plugins in their order; the first refusal ends it. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.flatMap((plugin) => plugin.admit?.bind(plugin) ?? []);
  const validating = plugins.flatMap((plugin) => plugin.validate?.bind(plugin) ?? []);
  return {
    admit: (attributes) => inOrder(mutating, attributes),
    validate: (attributes) => inOrder(validating, attributes),
  };
}

type Step = (attributes: AdmissionAttributes) => Promise<void> | void;

/** Nearly all steps are done at once: waiting for each of them would cost more than they do. */
async function inOrder(steps: readonly Step[], attributes: AdmissionAttributes): Promise<void> {
  for (const step of steps) {
    const pending = step(attributes);
    if (pending !== undefined) await pending;
  }
}
