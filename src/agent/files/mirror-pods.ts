import { StatusError } from "../../api/status.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { hashAnnotation, mirrorAnnotation } from "../pods/pod-source.ts";
import type { PodSink } from "./static-pods.ts";

const pods: ResourceType<Pod> = { group: "", version: "v1", resource: "pods" };

/** Time between two attempts to bring the mirrors up to date. */
const retryMs = 10_000;

export interface MirrorPodsParts {
  readonly client: Pick<Client, "create" | "delete">;
  readonly clock: Clock;
  /** Returns the API object of the node; undefined while it is not known. */
  readonly node: () => Node | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps one pod in the API for each static pod, so that clients see it: the mirror. Mirrors are never changed, but
 * replaced. A mirror without a static pod is removed, once all mirrors and static pods are known.
 */
export class MirrorPods implements PodSink, Disposable {
  readonly #parts: MirrorPodsParts;
  /** Static pods by namespace and name. */
  readonly #wanted = new Map<string, Pod>();
  /** Mirrors by namespace and name. */
  readonly #present = new Map<string, Pod>();
  /** Names with a request under way, and whether something has changed since it began. */
  readonly #busy = new Map<string, boolean>();
  readonly #timer: Disposable;
  #isReady = false;

  constructor(parts: MirrorPodsParts) {
    this.#parts = parts;
    this.#timer = parts.clock.every(retryMs, () => this.#reconcileAll());
  }

  /** Takes a static pod. */
  podChanged(pod: Pod): void {
    this.#wanted.set(nameOf(pod), pod);
    this.#reconcile(nameOf(pod));
  }

  /** Takes a static pod whose file is gone. */
  podGone(pod: Pod): void {
    const name = nameOf(pod);
    if (this.#wanted.get(name)?.metadata.uid === pod.metadata.uid) this.#wanted.delete(name);
    this.#reconcile(name);
  }

  /** Takes a state of a mirror; undefined if it is gone. */
  mirrorChanged(pod: Pod, mirror: Pod | undefined): void {
    if (mirror === undefined) this.#present.delete(nameOf(pod));
    else this.#present.set(nameOf(pod), mirror);
    this.#reconcile(nameOf(pod));
  }

  /** To be called when all static pods and all mirrors in the API are known. */
  ready(): void {
    this.#isReady = true;
    this.#reconcileAll();
  }

  [Symbol.dispose](): void {
    this.#isReady = false;
    this.#timer[Symbol.dispose]();
  }

  #reconcileAll(): void {
    for (const name of new Set([...this.#wanted.keys(), ...this.#present.keys()])) this.#reconcile(name);
  }

  /** Begins to bring one mirror up to date, unless that is under way. Failures are repaired at the next attempt. */
  #reconcile(name: string): void {
    if (!this.#isReady) return;
    if (this.#busy.has(name)) {
      this.#busy.set(name, true);
      return;
    }
    const wanted = this.#wanted.get(name);
    const present = this.#present.get(name);
    if (present === undefined && wanted === undefined) return;
    const isRight = present !== undefined && wanted !== undefined && isMirrorOf(present, wanted);
    if (isRight) return;
    this.#busy.set(name, false);
    const step = present === undefined ? this.#create(wanted) : this.#remove(present);
    void step.catch(this.#parts.onError).finally(() => {
      const hasChanged = this.#busy.get(name) === true;
      this.#busy.delete(name);
      if (hasChanged) this.#reconcile(name);
    });
  }

  async #create(wanted: Pod | undefined): Promise<void> {
    const { client, node } = this.#parts;
    const { uid = "", name = "" } = node()?.metadata ?? {};
    // The Node is the mirror's owner, so it has to exist.
    if (wanted === undefined || uid === "") return;
    const { namespace, annotations, labels, name: podName } = wanted.metadata;
    const mirror: Pod = {
      kind: "Pod",
      apiVersion: "v1",
      metadata: {
        name: podName,
        namespace,
        labels,
        annotations: { ...annotations, [mirrorAnnotation]: annotations?.[hashAnnotation] ?? "" },
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid, controller: true }],
      } as Pod["metadata"],
      ...(wanted.spec === undefined ? {} : { spec: wanted.spec }),
    };
    try {
      await client.create(pods, mirror);
    } catch (error) {
      // The watch is about to show it.
      if (!(error instanceof StatusError && error.code === 409)) throw error;
    }
  }

  async #remove({ metadata: { namespace, name = "", uid = "" } }: Pod): Promise<void> {
    try {
      await this.#parts.client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

function isMirrorOf({ metadata: { annotations, deletionTimestamp } }: Pod, wanted: Pod): boolean {
  const hash = wanted.metadata.annotations?.[hashAnnotation];
  return deletionTimestamp === undefined && annotations?.[mirrorAnnotation] === hash;
}

function nameOf({ metadata: { namespace = "", name = "" } }: Pod): string {
  return `${namespace}/${name}`;
}
