import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { Event } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { StoreUnavailableError } from "../../storage/store.ts";
import type { Occurrence } from "./event-correlator.ts";
import { EventQueue } from "./event-queue.ts";

export interface EventRecorderParts {
  readonly events: Registry;
  readonly clock: Clock;
  /** The source of the Events: upstream's name. */
  readonly component: string;
  readonly onError: (error: unknown) => void;
}

/** Records the actions of a controller as Events about the objects that they concern. */
export class EventRecorder implements Disposable {
  readonly #parts: EventRecorderParts;
  readonly #queue: EventQueue;

  constructor(parts: EventRecorderParts) {
    this.#parts = parts;
    this.#queue = new EventQueue({ ...parts, write: (event) => this.#write(event), onError: this.#onError });
  }

  /** Returns at once. The Event is written later, and a failure is not reported to the caller. */
  record(occurrence: Occurrence): void {
    this.#queue.record(occurrence);
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
  }

  readonly #onError = (error: unknown): void => {
    // The namespace may be terminating, or the quorum may be lost.
    const isExpected = error instanceof StatusError || error instanceof StoreUnavailableError;
    if (!isExpected) this.#parts.onError(error);
  };

  async #write(event: Event): Promise<void> {
    const { events } = this.#parts;
    const { namespace = "", name = "" } = event.metadata;
    if ((event.count ?? 1) > 1 && events.current(namespace, name) !== undefined) {
      const { count, lastTimestamp, message } = event;
      const again = (old: KubeObject) => ({ ...old, count, lastTimestamp, message }) as unknown as KubeObject;
      await events.update(namespace, name, again, controllerManagerContext, { reapplies: true });
    } else {
      await events.create(event as unknown as KubeObject, namespace, controllerManagerContext);
    }
  }
}
