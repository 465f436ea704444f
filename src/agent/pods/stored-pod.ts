import { equalJson, type JsonObject } from "../../api/json.ts";
import { StatusError } from "../../api/status.ts";
import type { Pod, PodStatus } from "../../api/types/core-v1.ts";
import { NoAnswerError } from "../../client/transport.ts";
import { isStaticPod } from "./pod-source.ts";
import { statusPatch } from "./status-patch.ts";
import type { StatusWriter } from "./status-writer.ts";

export interface StoredPodParts {
  readonly writer: StatusWriter;
  readonly onError: (error: unknown) => void;
}

export interface StoredPodEvents {
  /** Called when the newest status is stored. */
  readonly stored: () => void;
  /** Called when a status could not be written, also because the API object is gone. */
  readonly failed: () => void;
}

/**
 * A pod's newest known API object, and the status that is not stored in it yet. The API object of a static pod is its
 * mirror, which may be absent.
 */
export class StoredPod {
  readonly #parts: StoredPodParts;
  readonly #events: StoredPodEvents;
  readonly #isStatic: boolean;
  /** The pod as it is to run. */
  #pod: Pod;
  #mirror: Pod | undefined;
  #status: PodStatus | undefined;
  #isWriting = false;
  #isClosed = false;
  /** A patch that the server accepted without a change. Sending it again would not help. */
  #futile: { readonly version: string | undefined; readonly patch: JsonObject | undefined } | undefined;

  /** @param parts the parts that the pods of a node share */
  constructor(parts: StoredPodParts, events: StoredPodEvents, pod: Pod) {
    this.#parts = parts;
    this.#events = events;
    this.#pod = pod;
    this.#isStatic = isStaticPod(pod);
  }

  /** The pod with the status that the API has. */
  get pod(): Pod {
    return this.#isStatic ? withStatus(this.#pod, this.#mirror?.status) : this.#pod;
  }

  /** The pod with the agent's own view of its status. */
  get current(): Pod {
    return this.#status === undefined ? this.pod : withStatus(this.#pod, this.#status);
  }

  /** The latest status of the agent, or the one that the API has. */
  get status(): PodStatus {
    return this.#status ?? this.#target?.status ?? {};
  }

  /** Whether the API has the latest status. */
  get isStored(): boolean {
    return this.#status === undefined && !this.#isWriting;
  }

  /** Takes a state of the API object. Returns whether it is newer than the known one. */
  update(pod: Pod): boolean {
    const order = compareVersions(pod, this.#pod);
    // The same state replaces our own copy with the one that the informer keeps.
    if (order >= 0) this.#pod = pod;
    return order > 0;
  }

  /** Takes a state of the mirror of a static pod; undefined if it is gone. */
  setMirror(mirror: Pod | undefined): void {
    this.#mirror = mirror;
  }

  /** Takes the last state. Nothing is written any more. */
  close(last: Pod): void {
    this.#pod = last;
    this.#isClosed = true;
    this.#status = undefined;
  }

  /** Writes a status soon, unless the API has it. Of statuses that follow each other quickly, only the last is written. */
  publish(status: PodStatus): void {
    if (this.#isClosed) return;
    const target = this.#target;
    if (target === undefined) {
      // The status is written when there is a mirror.
      this.#status = status;
      return;
    }
    const patch = statusPatch(target, status);
    const isFutile = this.#futile?.version === target.metadata.resourceVersion && equalJson(patch, this.#futile?.patch);
    const isKnown = patch === undefined || isFutile;
    this.#status = isKnown ? undefined : status;
    if (!isKnown && !this.#isWriting) void this.#write();
  }

  get #target(): Pod | undefined {
    return this.#isStatic ? this.#mirror : this.#pod;
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    let isDone = true;
    try {
      while (this.#status !== undefined && this.#target !== undefined && !this.#isClosed) {
        const status = this.#status;
        const stored = await this.#parts.writer.write(this.#target, status);
        if (stored === undefined) {
          // The watch has yet to tell that the object is gone.
          isDone = false;
          break;
        }
        this.#take(stored, status);
      }
    } catch (error) {
      if (!(error instanceof StatusError || error instanceof NoAnswerError)) this.#parts.onError(error);
      isDone = false;
    }
    this.#isWriting = false;
    if (isDone) this.#events.stored();
    else this.#events.failed();
  }

  #take(stored: Pod, status: PodStatus): void {
    const known = this.#target;
    const order = known === undefined ? -1 : compareVersions(stored, known);
    if (order === 0) this.#futile = { version: stored.metadata.resourceVersion, patch: statusPatch(stored, status) };
    if (order > 0 && this.#isStatic) this.#mirror = stored;
    else if (order > 0) this.#pod = stored;
    if (this.#status === status) this.#status = undefined;
  }
}

function withStatus(pod: Pod, status: PodStatus | undefined): Pod {
  return status === undefined ? pod : { ...pod, status };
}

/** Compares the ages of two states of a pod. Their resourceVersions are decimal numbers of any length. */
function compareVersions(
  { metadata: { resourceVersion: a = "" } }: Pod,
  { metadata: { resourceVersion: b = "" } }: Pod,
) {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
