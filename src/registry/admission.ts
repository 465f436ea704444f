import type { GroupVersionKind } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { type Eventual, followedBy } from "../process/eventual.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { Premise } from "../storage/store.ts";
import type { AdmissionObserver, AdmissionStep, AdmissionTimer } from "./admission-observer.ts";
import type { DocumentForms } from "./document-forms.ts";
import type { Reinvocation } from "./reinvocation.ts";
import type { SettleListener } from "./settlement.ts";

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
  /** Deadline on the steady clock; undefined for none. */
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
  /** Makes the write depend on an object that the plugin has judged. */
  dependsOn(premise: FindPremise): void;
}

/**
 * Judges an object on which a write depends. Called in the turn in which the write goes to the store, and again if the
 * object has changed until then.
 * @throws StatusError if the object does not allow the write
 */
export type FindPremise = () => Premise;

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
  const stepOf = (seen: readonly AdmissionPlugin[]) => ({
    admit: new Step("admit", seen, observer),
    validate: new Step("validate", seen, observer),
  });
  const documents = stepOf(plugins);
  const connections = stepOf(plugins.filter(({ seesConnections }) => seesConnections));
  const stepsFor = ({ operation }: AdmissionAttributes) => (operation === "CONNECT" ? connections : documents);
  return {
    admit(attributes) {
      const run = new StepRun(stepsFor(attributes).admit, attributes);
      const again = () => (attributes.reinvocation.repeat() ? run.pass() : undefined);
      return followedBy(followedBy(run.pass(), again), () => run.end(false));
    },
    validate(attributes) {
      const run = new StepRun(stepsFor(attributes).validate, attributes);
      return followedBy(run.pass(), () => run.end(false));
    },
  };
}

/** One method of a plugin. */
interface PluginCall {
  readonly timer: AdmissionTimer | undefined;
  run(attributes: AdmissionAttributes): Promise<void> | void;
}

/** One half of admission: the plugins that have this method. */
class Step {
  readonly calls: readonly PluginCall[];
  readonly timer: AdmissionTimer | undefined;

  constructor(method: AdmissionStep, plugins: readonly AdmissionPlugin[], observer: AdmissionObserver | undefined) {
    this.timer = observer?.stepTimer(method);
    this.calls = plugins.flatMap((plugin) => {
      const run = plugin[method]?.bind(plugin);
      return run === undefined ? [] : { timer: observer?.pluginTimer(method, plugin.name), run };
    });
  }
}

/** One step of admission for one request, with its times. */
class StepRun {
  readonly #step: Step;
  readonly #attributes: AdmissionAttributes;
  readonly #startMs = performance.now();

  constructor(step: Step, attributes: AdmissionAttributes) {
    this.#step = step;
    this.#attributes = attributes;
  }

  /** Calls the plugins in order. Nearly all finish synchronously, and awaiting each would cost more than the calls. */
  pass(from = 0): Eventual<void> {
    const { calls } = this.#step;
    const { operation } = this.#attributes;
    let startMs = performance.now();
    for (let at = from; at < calls.length; at++) {
      const call = calls[at] as PluginCall;
      let pending: Eventual<void>;
      try {
        pending = call.run(this.#attributes);
      } catch (error) {
        throw this.#rejected(call, startMs, error);
      }
      if (pending !== undefined) return this.#passLater(pending, call, startMs, at + 1);
      // The end of one call is the start of the next.
      const endMs = performance.now();
      call.timer?.(operation, endMs - startMs, false);
      startMs = endMs;
    }
  }

  #passLater(pending: Promise<void>, call: PluginCall, startMs: number, next: number): Promise<void> {
    return pending.then(
      () => {
        call.timer?.(this.#attributes.operation, performance.now() - startMs, false);
        return this.pass(next);
      },
      (error: unknown) => {
        throw this.#rejected(call, startMs, error);
      },
    );
  }

  #rejected({ timer }: PluginCall, startMs: number, error: unknown): unknown {
    timer?.(this.#attributes.operation, performance.now() - startMs, true);
    this.end(true);
    return error;
  }

  end(isRejected: boolean): void {
    this.#step.timer?.(this.#attributes.operation, performance.now() - this.#startMs, isRejected);
  }
}
