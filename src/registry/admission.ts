import type { GroupVersionKind } from "../api/gvk.ts";
import { type Eventual, followedBy } from "../api/eventual.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { AdmissionObserver, AdmissionStep, AdmissionTime } from "./admission-observer.ts";
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
  /** Reports whether the client no longer waits. */
  isAbandoned(): boolean;
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

/** Both methods refuse by throwing, also as a rejection. */
export interface Admission {
  admit(attributes: AdmissionAttributes): Eventual<void>;
  validate(attributes: AdmissionAttributes): Eventual<void>;
}

/** Runs the plugins in order until one refuses. Mutating plugins run once more if one requests it. */
export function admissionChain(plugins: readonly AdmissionPlugin[], observer?: AdmissionObserver): Admission {
  const documents = stepsOf(plugins);
  const connections = stepsOf(plugins.filter(({ seesConnections }) => seesConnections));
  const stepsFor = ({ operation }: AdmissionAttributes) => (operation === "CONNECT" ? connections : documents);
  return {
    admit(attributes) {
      const { mutating } = stepsFor(attributes);
      const run = new StepRun("admit", attributes, observer);
      const again = () => (attributes.reinvocation.repeat() ? run.pass(mutating) : undefined);
      return followedBy(followedBy(run.pass(mutating), again), () => run.end(false));
    },
    validate(attributes) {
      const run = new StepRun("validate", attributes, observer);
      return followedBy(run.pass(stepsFor(attributes).validating), () => run.end(false));
    },
  };
}

/** One method of a plugin. */
interface PluginCall {
  readonly plugin: string;
  run(attributes: AdmissionAttributes): Promise<void> | void;
}

function stepsOf(plugins: readonly AdmissionPlugin[]): {
  mutating: readonly PluginCall[];
  validating: readonly PluginCall[];
} {
  const calls = (method: "admit" | "validate") =>
    plugins.flatMap((plugin) => {
      const run = plugin[method]?.bind(plugin);
      return run === undefined ? [] : { plugin: plugin.name, run };
    });
  return { mutating: calls("admit"), validating: calls("validate") };
}

/** One step of admission for one request, with its times. */
class StepRun {
  readonly #step: AdmissionStep;
  readonly #attributes: AdmissionAttributes;
  readonly #observer: AdmissionObserver | undefined;
  readonly #startMs = performance.now();

  constructor(step: AdmissionStep, attributes: AdmissionAttributes, observer: AdmissionObserver | undefined) {
    this.#step = step;
    this.#attributes = attributes;
    this.#observer = observer;
  }

  /** Calls the plugins in order. Nearly all finish synchronously, and awaiting each would cost more than the calls. */
  pass(calls: readonly PluginCall[], from = 0): Eventual<void> {
    let startMs = performance.now();
    for (let at = from; at < calls.length; at++) {
      const { plugin, run } = calls[at] as PluginCall;
      let pending: Eventual<void>;
      try {
        pending = run(this.#attributes);
      } catch (error) {
        throw this.#rejected(plugin, startMs, error);
      }
      if (pending !== undefined) return this.#passLater(pending, plugin, startMs, () => this.pass(calls, at + 1));
      // The end of one call is the start of the next.
      const endMs = performance.now();
      this.#observer?.plugin(plugin, this.#timeSince(startMs, endMs, false));
      startMs = endMs;
    }
  }

  #passLater(pending: Promise<void>, plugin: string, startMs: number, next: () => Eventual<void>): Promise<void> {
    return pending.then(
      () => {
        this.#observer?.plugin(plugin, this.#timeSince(startMs, performance.now(), false));
        return next();
      },
      (error: unknown) => {
        throw this.#rejected(plugin, startMs, error);
      },
    );
  }

  #rejected(plugin: string, startMs: number, error: unknown): unknown {
    this.#observer?.plugin(plugin, this.#timeSince(startMs, performance.now(), true));
    this.end(true);
    return error;
  }

  end(isRejected: boolean): void {
    this.#observer?.step(this.#timeSince(this.#startMs, performance.now(), isRejected));
  }

  #timeSince(startMs: number, endMs: number, isRejected: boolean): AdmissionTime {
    const { operation } = this.#attributes;
    return { step: this.#step, operation, seconds: (endMs - startMs) / 1_000, isRejected };
  }
}
