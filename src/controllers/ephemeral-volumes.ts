import { bodyIncludes, decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry, Key } from "../api/entry.ts";
import { StatusError, status } from "../api/status.ts";
import type { PersistentVolumeClaim, Pod, Volume } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { ephemeralClaimName, isControlledByPod } from "./ephemeral-claim.ts";
import { EventRecorder } from "./events/event-recorder.ts";
import { type RecordEvent, recordingWith } from "./events/record-event.ts";
import { followEntries } from "./follow-entries.ts";
import { followObjects } from "./follow-objects.ts";
import { namesOf } from "./object-key.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const component = "ephemeral_volume";
const workers = 10;
const ephemeralField = Buffer.from('"ephemeral":{');

export interface EphemeralVolumesObserver {
  creating(): void;
  failed(): void;
}

export interface EphemeralVolumesParts extends QueueSource {
  readonly pods: Registry;
  readonly claims: Registry;
  readonly events: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly observer?: EphemeralVolumesObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Makes the claims of generic ephemeral volumes. Each belongs to its pod, and garbage collection removes it with the
 * pod. One that is deleted before is made again.
 */
export class EphemeralVolumes {
  readonly #parts: EphemeralVolumesParts;
  readonly #running = new DisposableStack();
  readonly #record: RecordEvent;
  readonly #queue: WorkQueue;
  /** Pods that have such volumes, by the keys of their claims. */
  readonly #podOf = new Map<Key, Key>();

  constructor(parts: EphemeralVolumesParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#record = recordingWith(this.#running.use(new EventRecorder({ ...parts, component })));
    this.#queue = this.#running.use(
      new WorkQueue({
        name: "ephemeral_volume",
        clock,
        observeQueue,
        onError,
        workers,
        work: (key) => this.#makeClaims(key),
      }),
    );
  }

  start(): Disposable {
    const { store, pods, claims, onError } = this.#parts;
    this.#running.use(
      followEntries({ store, prefix: pods.info.keyPrefix, onError }, (entry, type) => {
        // The volumes of a pod never change.
        if (type === "MODIFIED" || !bodyIncludes(entry, ephemeralField)) return;
        if (type === "ADDED") this.#queue.add(entry.key);
        else this.#forget(entry);
      }),
    );
    this.#running.use(
      followObjects(store, claims.info.keyPrefix, (key, type) => {
        const pod = type === "DELETED" ? this.#podOf.get(key) : undefined;
        if (pod !== undefined) this.#queue.add(pod);
      }),
    );
    return this.#running;
  }

  #forget(entry: Entry): void {
    const { pods, claims } = this.#parts;
    const pod = decodeEntry(entry, pods.info) as Pod;
    for (const volume of pod.spec?.volumes ?? []) {
      const claim = claims.keyOf(pod.metadata.namespace ?? "", ephemeralClaimName(pod, volume));
      // Pods can share the name of a claim: `a-b` with volume `c`, and `a` with volume `b-c`.
      if (this.#podOf.get(claim) === entry.key) this.#podOf.delete(claim);
    }
  }

  async #makeClaims(key: Key): Promise<void> {
    const { pods, claims } = this.#parts;
    const { namespace, name } = namesOf(pods, key);
    const pod = pods.current(namespace, name) as Pod | undefined;
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    for (const volume of pod.spec?.volumes ?? []) {
      if (volume.ephemeral === undefined || this.#running.disposed) continue;
      this.#podOf.set(claims.keyOf(namespace, ephemeralClaimName(pod, volume)), key);
      try {
        await this.#makeClaim(pod, volume, namespace);
      } catch (error) {
        if (error instanceof StatusError) {
          const message = `ephemeral volume ${volume.name}: ${error.message}`;
          this.#record(pod, { type: "Warning", reason: "FailedBinding", message });
        }
        throw error;
      }
    }
  }

  async #makeClaim(pod: Pod, volume: Volume, namespace: string): Promise<void> {
    const { claims, observer } = this.#parts;
    const name = ephemeralClaimName(pod, volume);
    const present = claims.current(namespace, name) as PersistentVolumeClaim | undefined;
    if (present !== undefined) {
      if (isControlledByPod(pod, present)) return;
      const place = `${namespace}/${pod.metadata.name}`;
      throw status.serviceUnavailable(`PVC ${namespace}/${name} was not created for pod ${place} (pod is not owner)`);
    }
    observer?.creating();
    try {
      await claims.create(claimFor(pod, volume, name), namespace, controllerManagerContext);
    } catch (error) {
      observer?.failed();
      if (!(error instanceof StatusError)) throw error;
      throw status.serviceUnavailable(`create PVC ${name}: ${error.message}`);
    }
  }
}

function claimFor({ metadata: { name: podName = "", namespace = "", uid = "" } }: Pod, volume: Volume, name: string) {
  const { metadata = {}, spec } = volume.ephemeral?.volumeClaimTemplate ?? { spec: {} };
  const { labels, annotations } = metadata;
  const owner = { apiVersion: "v1", kind: "Pod", name: podName, uid, controller: true, blockOwnerDeletion: true };
  return {
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: {
      name,
      namespace,
      ownerReferences: [owner],
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec,
  };
}
