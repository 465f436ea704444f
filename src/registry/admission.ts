import type { GroupVersionKind } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { DocumentForms } from "./document-forms.ts";
import type { Reinvocation } from "./reinvocation.ts";
import type { SettleListener } from "./settlement.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The resource in the version in which its objects are stored. */
  readonly info: ResourceInfo;
  /** The resource in the version of the request. */
  readonly requested: ResourceInfo;
  /** The kind of the request's documents, such as Scale for `deployments/scale`. */
  readonly kind: GroupVersionKind;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for DELETE; the options of a connection. Mutating plugins may change it. */
  readonly object: KubeObject | undefined;
  /** Undefined for CREATE. */
  readonly oldObject: KubeObject | undefined;
  /** Other versions of `object` and `oldObject`. */
  readonly forms: DocumentForms;
  /** Returns the options object of the operation, such as a CreateOptions; undefined for a connection. */
  options(): JsonObject | undefined;
  readonly reinvocation: Reinvocation;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Time at which the request is given up, in milliseconds since the epoch; undefined for one without a deadline. */
  readonly deadlineMs: number | undefined;
  /** Aborts when nobody waits for the outcome any more. */
  readonly signal: AbortSignal | undefined;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /** Adds an annotation that quotes the request, if the audit records bodies of requests. */
  annotateBody(key: string, value: () => string): void;
  /** Told once how this attempt to write ended; a plugin that has counted the object learns here whether it is stored. */
  onSettled(listener: SettleListener): void;
}

/** One plugin. Both methods refuse by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Sees connections too; other plugins judge documents only. */
  readonly seesConnections?: true;
  /** Runs before validation and may change `object`. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  /** Runs last, with the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface Admission {
  admit(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}

/** Runs the plugins in their order; the first refusal ends it. Mutating plugins run once more when one asks for it. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const documents = stepsOf(plugins);
  const connections = stepsOf(plugins.filter(({ seesConnections }) => seesConnections));
  const stepsFor = ({ operation }: AdmissionAttributes) => (operation === "CONNECT" ? connections : documents);
  return {
    async admit(attributes) {
      const { mutating } = stepsFor(attributes);
      await inOrder(mutating, attributes);
      if (attributes.reinvocation.repeat()) await inOrder(mutating, attributes);
    },
    validate: (attributes) => inOrder(stepsFor(attributes).validating, attributes),
  };
}

function stepsOf(plugins: readonly AdmissionPlugin[]): { mutating: readonly Step[]; validating: readonly Step[] } {
  return {
    mutating: plugins.flatMap((plugin) => plugin.admit?.bind(plugin) ?? []),
    validating: plugins.flatMap((plugin) => plugin.validate?.bind(plugin) ?? []),
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
