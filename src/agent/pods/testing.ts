import { equalJson, type JsonObject } from "../../api/json.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import type { Container, Node, Pod, PodSpec, PodStatus } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Occurrence } from "../../controllers/events/event-correlator.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import type { Pressure } from "../node/eviction-thresholds.ts";
import type { ContainerState } from "../runtime/runtime.ts";
import { FakeRuntime } from "../runtime/testing.ts";
import { patchedObject } from "../testing.ts";
import { type PodFiles, PodFilesError } from "./pod-files.ts";
import { PodManager } from "./pod-manager.ts";
import type { PodView } from "./pod-view.ts";
import { Schedule } from "./schedule.ts";
import { StatusWriter } from "./status-writer.ts";

/** Files of pods that are kept nowhere. */
export class MemoryPodFiles implements PodFiles {
  /** Pods that are prepared, by uid. */
  readonly prepared = new Set<string>();
  /** Why nothing can be prepared at present. */
  problem: PodFilesError | undefined;

  async prepare(pod: Pod): Promise<void> {
    if (this.problem !== undefined) throw this.problem;
    this.prepared.add(pod.metadata.uid ?? "");
  }

  async mountsOf(pod: Pod): Promise<readonly []> {
    if (!this.prepared.has(pod.metadata.uid ?? "")) throw new PodFilesError("FailedMount", "the pod is not prepared");
    return [];
  }

  async environmentOf(_pod: Pod, container: Container): Promise<readonly (readonly [string, string])[]> {
    return (container.env ?? []).map(({ name, value = "" }) => [name, value] as const);
  }

  async remove(podUid: string): Promise<void> {
    this.prepared.delete(podUid);
  }
}

/** A run of a container: `running`, `created`, `unknown` or its exit code. */
export type RunSpec = readonly [name: string, state: "running" | "created" | "unknown" | number, attempt?: number];

export interface ViewOptions {
  readonly spec?: Partial<PodSpec>;
  readonly metadata?: Partial<Pod["metadata"]>;
  readonly old?: PodStatus;
  /** Whether each sandbox is ready, the newest first; a ready one by default. */
  readonly sandboxes?: readonly boolean[];
  /** Their ids are `<name>#<attempt>`. */
  readonly runs?: readonly RunSpec[];
  readonly more?: Partial<PodView>;
}

/** Returns a view of a pod in which every container started at 1 s and ended at 2 s. */
export function viewOf({ spec = {}, metadata = {}, old = {}, sandboxes = [true], runs = [], more = {} }: ViewOptions) {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "n", uid: "u", generation: 1, ...metadata },
    spec: { containers: [container("web")], restartPolicy: "Always", nodeName: "node-1", ...spec },
    status: old,
  };
  const view: PodView = {
    pod,
    old,
    sandboxes: sandboxes.map((isReady, at) => ({
      id: `sandbox-${sandboxes.length - at}`,
      podUid: "u",
      namespace: "n",
      podName: "p",
      isReady,
      ips: ["10.1.0.1"],
      attempt: sandboxes.length - 1 - at,
    })),
    containers: runs.map(([name, state, attempt = 0]) => ({
      id: `${name}#${attempt}`,
      sandboxId: `sandbox-${sandboxes.length}`,
      name,
      attempt,
      image: "nginx:1",
      imageRef: "nginx@sha256:1",
      state: stateOf(state),
    })),
    waiting: new Map(),
    applied: new Map(),
    holdsResize: false,
    restarting: new Set(),
    probeResult: () => undefined,
    restartDelay: () => undefined,
    ...more,
  };
  return view;
}

function stateOf(state: RunSpec[1]): ContainerState {
  if (state === "running") return { kind: state, startedAtMs: 1_000 };
  if (typeof state !== "number") return { kind: state };
  const reason = state === 0 ? "Completed" : "Error";
  return { kind: "exited", startedAtMs: 1_000, finishedAtMs: 2_000, exitCode: state, reason, message: "" };
}

/** A node with a fake runtime, and the part of an API server that it needs. */
export class PodFixture implements Disposable {
  readonly clock = new ManualClock();
  readonly runtime = new FakeRuntime(this.clock);
  readonly files = new MemoryPodFiles();
  readonly events: Occurrence[] = [];
  readonly errors: unknown[] = [];
  /** The stored pods, by name. */
  readonly stored = new Map<string, Pod>();
  /** The patches of statuses. */
  readonly patches: JsonObject[] = [];
  /** Number of requests for a patch, with those that failed. */
  requests = 0;
  /** Error of the next requests. */
  failure: Error | undefined;
  node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };
  readonly pressures = new Set<Pressure>();
  readonly #schedule = new Schedule(this.clock);
  #manager: PodManager | undefined;
  #version = 100;

  get manager(): PodManager {
    if (this.#manager === undefined) throw new Error("the manager has not been opened");
    return this.#manager;
  }

  /** Starts the agent, or starts it again. */
  async open(): Promise<void> {
    this.#manager?.[Symbol.dispose]();
    this.#manager = await PodManager.open({
      client: { get: async () => Promise.reject(status.notFound({ group: "", resource: "secrets", name: "s" })) },
      clock: this.clock,
      schedule: this.#schedule,
      writer: new StatusWriter(this.#client()),
      recorder: { record: (event) => this.events.push(event) },
      random: () => 0,
      onError: (error) => this.errors.push(error),
      nodeName: "node-1",
      runtime: this.runtime,
      files: this.files,
      logDirectory: "/var/log/pods",
      node: () => this.node,
      hostIps: () => ["192.0.2.1"],
      pressures: () => this.pressures,
    });
    this.#manager.podsListed([...this.stored.values()]);
    await this.settle();
  }

  /** Creates a pod as the API server and the scheduler do. */
  async create(name: string, spec: Partial<PodSpec> = {}, metadata: Partial<Pod["metadata"]> = {}): Promise<void> {
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "n", uid: `uid-${name}`, generation: 1, ...metadata },
      spec: {
        containers: [container("web")],
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        nodeName: "node-1",
        ...spec,
      },
      status: { phase: "Pending", qosClass: "BestEffort" },
    };
    await this.change(name, () => pod);
  }

  /** Changes a stored pod and tells the agent. */
  async change(name: string, change: (pod: Pod) => Pod): Promise<void> {
    this.#store(change(this.stored.get(name) as Pod));
    this.manager.podChanged(this.stored.get(name) as Pod);
    await this.settle();
  }

  /** Marks a pod as deleted. */
  async delete(name: string, graceSeconds = 30): Promise<void> {
    await this.change(name, (pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        deletionTimestamp: new Date(this.clock.nowMs() + graceSeconds * 1_000).toISOString(),
        deletionGracePeriodSeconds: graceSeconds,
      },
    }));
  }

  /** Removes a pod at once, as a forced deletion does. */
  async remove(name: string): Promise<void> {
    const pod = this.stored.get(name) as Pod;
    this.stored.delete(name);
    this.manager.podGone(pod);
    await this.settle();
  }

  /** Lets time pass, a second at a time. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(1_000);
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  status(name: string): NonNullable<Pod["status"]> {
    return this.stored.get(name)?.status ?? {};
  }

  /** The reasons of the recorded Events, of one pod if one is named. */
  reasons(name?: string): string[] {
    return this.events.filter(({ about }) => name === undefined || about.name === name).map(({ reason }) => reason);
  }

  [Symbol.dispose](): void {
    this.#manager?.[Symbol.dispose]();
    this.#schedule[Symbol.dispose]();
  }

  #store(pod: Pod): void {
    this.#version++;
    const metadata = { ...pod.metadata, resourceVersion: `${this.#version}` };
    this.stored.set(pod.metadata.name ?? "", { ...pod, metadata });
  }

  #client(): Pick<Client, "patch" | "delete"> {
    const client = {
      patch: async (_type: unknown, { name }: { name: string }, patch: { document: JsonObject }) => {
        this.requests++;
        const pod = this.#found(name);
        const { uid } = patch.document.metadata as { uid: string };
        if (uid !== pod.metadata.uid) throw status.conflict({ group: "", resource: "pods", name }, "uid mismatch");
        this.patches.push(patch.document);
        const patched = patchedObject(pod, patch.document, podInfo);
        if (!equalJson(patched as never, pod as never)) this.#store(patched);
        return this.#found(name);
      },
      delete: async (_type: unknown, { name }: { name: string }, options: { preconditions?: { uid?: string } }) => {
        const pod = this.#found(name);
        if (options.preconditions?.uid !== pod.metadata.uid) throw new Error("the uid is missing");
        this.stored.delete(name);
        setImmediate(() => this.manager.podGone(pod));
        return pod;
      },
    };
    return client as unknown as Pick<Client, "patch" | "delete">;
  }

  #found(name: string): Pod {
    if (this.failure !== undefined) throw this.failure;
    const pod = this.stored.get(name);
    if (pod === undefined) throw status.notFound({ group: "", resource: "pods", name });
    return pod;
  }
}

const podInfo = Scheme.builtIn().find("", "v1", "pods") as ResourceInfo;

export function container(name: string, more: Partial<Container> = {}): Container {
  return { name, image: "nginx:1", imagePullPolicy: "IfNotPresent", ...more };
}
