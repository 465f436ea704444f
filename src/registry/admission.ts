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
  /** The object; undefined for DELETE, and the options of a connection. Mutating plugins may change it. */
  readonly object: KubeObject | undefined;
  /** The stored object; undefined for CREATE. */
  readonly oldObject: KubeObject | undefined;
  /** Other versions of `object` and `oldObject`. */
  readonly forms: DocumentForms;
  /** Returns the options object of the operation, such as a CreateOptions; undefined for a connection. */
  options(): JsonObject | undefined;
  readonly reinvocation: Reinvocation;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Deadline in milliseconds since the epoch; undefined for none. */
  readonly deadlineMs: number | undefined;
  /** Returns a signal that aborts when the client no longer waits; undefined for requests that are always awaited. */
  signal(): AbortSignal | undefined;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /** Adds an annotation that quotes the request, if the audit records bodies of requests. */
  annotateBody(key: string, value: () => string): void;
  /** Notes time that was spent waiting for webhooks. */
  webhooksTook?(ms: number): void;
  /**
   * Registers a listener that is called once with the outcome of this attempt to write, for plugins that have counted
   * the object.
   */
  onSettled(listener: SettleListener): void;
}

/** One plugin. Both methods refuse by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Admits connections too; other plugins see documents only. */
  readonly seesConnections?: true;
  /** Runs before validation and may change `object`. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  /** Runs last and sees the object as it will be stored. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

export interface Admission {
  admit(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
}

/** Runs the plugins in order until one refuses. Mutating plugins run once more if one requests it. */
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

/** Runs the steps in order. Nearly all finish synchronously, and awaiting each would cost more than the steps. */
async function inOrder(steps: readonly Step[], attributes: AdmissionAttributes): Promise<void> {
  for (const step of steps) {
    const pending = step(attributes);
    if (pending !== undefined) await pending;
  }
}
