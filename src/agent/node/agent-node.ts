import { StatusError } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { ContainerImage, Node } from "../../api/types/core-v1.ts";
import { Backoff } from "../../client/backoff.ts";
import type { Client } from "../../client/client.ts";
import type { Occurrence } from "../../controllers/events/event-correlator.ts";
import type { Clock } from "../../process/clock.ts";
import { RepeatedTask } from "../../process/repeated-task.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Pressure } from "./eviction-thresholds.ts";
import type { Machine, MachineInfo } from "./machine.ts";
import { NodeLease } from "./node-lease.ts";
import { nodeRecorder, type RecordNodeEvent } from "./node-recorder.ts";
import { nodeType, registerNode } from "./node-registration.ts";
import type { NodeSettings } from "./node-settings.ts";
import { type EvaluatedStatus, evaluateStatus, newNode } from "./node-status.ts";
import { statusPatch } from "./status-patch.ts";

const registerMsMin = 200;
const registerMsMax = 7_000;
/** Attempts to report one status, which follow each other at once. */
const attemptsMax = 5;
const jitter = 0.04;
/** Interval of the status checks until the node is ready for the first time, and how long it lasts. */
const fastUpdateMs = 100;
const fastUpdatesMsMax = 120_000;
/** Fraction of the report interval by which a change moves the next report, in either direction. */
const reportShift = 0.5;

export interface AgentNodeParts {
  readonly client: Pick<Client, "get" | "create" | "update" | "patch">;
  readonly settings: NodeSettings;
  readonly machine: Pick<Machine, "info">;
  readonly runtime: Pick<Runtime, "version" | "problems" | "features" | "images">;
  /** Returns the pressures that the conditions of the node show. */
  readonly pressures: () => ReadonlySet<Pressure>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Returns the Node as a watch has last seen it; undefined if there is none. The first attempt of a report uses it. */
  cached(): Node | undefined;
  /** Records an Event about the node. */
  record(occurrence: Occurrence): void;
  onError(error: unknown): void;
}

/**
 * One node: registers it, evaluates its status every 10 s, reports it when it has changed or 5 minutes have passed, and
 * renews its Lease. Thousands may share a process: each costs two timers, and the parts may be shared.
 */
export class AgentNode implements Disposable {
  readonly #parts: AgentNodeParts;
  readonly #registered = Promise.withResolvers<void>();
  readonly #record: RecordNodeEvent;
  readonly #tasks = new DisposableStack();
  readonly #status: RepeatedTask;
  readonly #startedMs: number;
  #isRegistered = false;
  /** The Node as the server last returned it to us, until a watch has seen it. */
  #node: Node | undefined;
  /** Upstream's waits, which do not vary. */
  readonly #registration = new Backoff(registerMsMin, registerMsMax, () => 0);
  #hasBeenReady = false;
  #reportedMs: number | undefined;
  /** Random change of the time of the next report, so that nodes that changed together spread again. */
  #shiftMs = 0;
  /** `spec.unschedulable` of the Node when it was last seen. */
  #isUnschedulable = false;

  /** Starts at once. */
  constructor(parts: AgentNodeParts) {
    this.#parts = parts;
    this.#record = nodeRecorder(parts, parts.settings.name);
    this.#startedMs = parts.clock.steadyMs();
    this.#record("Normal", "Starting", "Starting kubelet.");
    this.#status = this.#tasks.use(new RepeatedTask(parts.clock, () => this.#update()));
  }

  /** Resolves when the Node exists. Never resolves after the end. */
  get registered(): Promise<void> {
    return this.#registered.promise;
  }

  /** Evaluates the status soon, because something has changed. */
  updateNow(): void {
    this.#status.runNow();
  }

  [Symbol.dispose](): void {
    this.#tasks.dispose();
  }

  /** Returns the time until the next call. */
  async #update(): Promise<number> {
    const { settings, random, clock, onError } = this.#parts;
    try {
      if (!this.#isRegistered && !(await this.#register())) return this.#registration.next();
      await this.#report();
    } catch (error) {
      if (!this.#tasks.disposed) onError(error);
      if (!this.#isRegistered) return this.#registration.next();
    }
    const isFast = !this.#hasBeenReady && clock.steadyMs() - this.#startedMs < fastUpdatesMsMax;
    return isFast ? fastUpdateMs : settings.statusUpdateMs * (1 + jitter * random());
  }

  /** Returns false if someone else has to create the Node, and has not. */
  async #register(): Promise<boolean> {
    const { client, settings, machine } = this.#parts;
    const { name } = settings;
    let node: Node | undefined;
    if (settings.registers) {
      const info = await machine.info();
      const wanted = newNode(settings, info);
      const { status, events } = await this.#evaluate({ ...wanted, status: {} }, info);
      node = await registerNode(client, { ...wanted, status }, this.#timeoutMs);
      for (const event of events) this.#recordStatus(event);
    } else {
      node = this.#parts.cached() ?? (await this.#read(name));
      if (node === undefined) return false;
    }
    this.#isRegistered = true;
    this.#node = node;
    if (this.#tasks.disposed) return true;
    this.#isUnschedulable = node.spec?.unschedulable === true;
    this.#registered.resolve();
    this.#startLease();
    return true;
  }

  #startLease(): void {
    const { client, settings, clock, random, onError } = this.#parts;
    const lease = new NodeLease({
      client,
      nodeName: settings.name,
      durationSeconds: settings.leaseDurationSeconds,
      clock,
      random,
      timeoutMs: this.#timeoutMs,
      nodeUid: async () => (await this.#read(settings.name))?.metadata.uid,
      onError,
    });
    this.#tasks.use(new RepeatedTask(clock, () => lease.beat()));
  }

  async #read(name: string): Promise<Node | undefined> {
    try {
      return await this.#parts.client.get(nodeType, { name }, { timeoutMs: this.#timeoutMs });
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined;
      throw error;
    }
  }

  /** Reports the status if it has changed or a report is due. */
  async #report(): Promise<void> {
    const { settings, machine, cached } = this.#parts;
    const info = await machine.info();
    let known = cached() ?? this.#node;
    for (let attempt = 1; ; attempt++) {
      try {
        known ??= await this.#read(settings.name);
        if (known === undefined) throw new Error(`the Node ${settings.name} does not exist: it was deleted`);
        return await this.#reportOn(known, info);
      } catch (error) {
        if (attempt === attemptsMax || this.#tasks.disposed) throw error;
        known = undefined;
      }
    }
  }

  async #reportOn(known: Node, info: MachineInfo): Promise<void> {
    const { client, settings, clock, random } = this.#parts;
    this.#noteSchedulable(known);
    const evaluated = await this.#evaluate(known, info);
    const { status } = evaluated;
    this.#hasBeenReady ||= (status.conditions ?? []).some((one) => one.type === "Ready" && one.status === "True");
    const steadyMs = clock.steadyMs();
    const dueMs = (this.#reportedMs ?? Number.NEGATIVE_INFINITY) + settings.statusReportMs + this.#shiftMs;
    const changes = statusPatch(known.status ?? {}, status, false);
    const document = changes ?? (steadyMs >= dueMs ? statusPatch(known.status ?? {}, status, true) : undefined);
    if (document === undefined) return;
    const of = { name: settings.name, subresource: "status" };
    const patched = await client.patch(nodeType, of, { kind: "strategic", document }, { timeoutMs: this.#timeoutMs });
    // Thousands of nodes do not keep it twice.
    this.#node = this.#parts.cached() === undefined ? patched : undefined;
    this.#reportedMs = steadyMs;
    this.#shiftMs = changes !== undefined ? settings.statusReportMs * reportShift * (2 * random() - 1) : 0;
    this.#recordAll(evaluated, info);
  }

  async #evaluate(node: Node, machine: MachineInfo): Promise<EvaluatedStatus> {
    const { settings, runtime, clock, pressures } = this.#parts;
    const [problems, images] = await Promise.all([
      runtime.problems().catch((error: unknown) => [`container runtime is down: ${(error as Error).message}`]),
      runtime.images().catch((): ContainerImage[] => []),
    ]);
    const { version: runtimeVersion, features } = runtime;
    const observation = { machine, runtimeVersion, features, images, pressures: pressures(), problems };
    return evaluateStatus(node.status ?? {}, settings, observation, formatTime(clock.nowMs()));
  }

  #noteSchedulable({ spec }: Node): void {
    const isUnschedulable = spec?.unschedulable === true;
    if (isUnschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = isUnschedulable;
    this.#recordStatus(isUnschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
  }

  get #timeoutMs(): number {
    const { leaseDurationSeconds, statusUpdateMs } = this.#parts.settings;
    return Math.min(leaseDurationSeconds * 1_000, statusUpdateMs);
  }

  #recordAll({ events, isRebooted }: EvaluatedStatus, { bootId }: MachineInfo): void {
    const { name } = this.#parts.settings;
    if (isRebooted) this.#record("Warning", "Rebooted", `Node ${name} has been rebooted, boot id: ${bootId}`);
    for (const event of events) this.#recordStatus(event);
  }

  #recordStatus(reason: string): void {
    this.#record("Normal", reason, `Node ${this.#parts.settings.name} status is now: ${reason}`);
  }
}
