import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Event } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { StoreUnavailableError } from "../../storage/store.ts";
import { type CorrelatedEvent, EventCorrelator, type Occurrence } from "./event-correlator.ts";

/** Maximum number of Events that wait to be written. Further Events are dropped, because an Event is a hint. */
const waitingMax = 1_000;

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
  readonly #correlator = new EventCorrelator();
  readonly #waiting: CorrelatedEvent[] = [];
  #isWriting = false;
  #stopped = false;

  constructor(parts: EventRecorderParts) {
    this.#parts = parts;
  }

  /** Returns at once. The Event is written later, and a failure is not reported to the caller. */
  record(occurrence: Occurrence): void {
    if (this.#stopped || this.#waiting.length >= waitingMax) return;
    const event = this.#correlator.correlate(occurrence, this.#parts.clock.nowMs());
    if (event === undefined) return;
    this.#waiting.push(event);
    if (!this.#isWriting) void this.#writeAll();
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        await this.#write(event);
      } catch (error) {
        // The namespace may be terminating, or the quorum may be lost.
        const isExpected = error instanceof StatusError || error instanceof StoreUnavailableError;
        if (!isExpected) this.#parts.onError(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(event: CorrelatedEvent): Promise<void> {
    const { events, component } = this.#parts;
    const namespace = event.about.namespace || "default";
    const object = eventObject(event, namespace, component);
    if (event.count > 1 && events.current(namespace, event.name) !== undefined) {
      const { count, lastTimestamp, message } = object;
      const again = (old: KubeObject) => ({ ...old, count, lastTimestamp, message }) as unknown as KubeObject;
      await events.update(namespace, event.name, again, controllerManagerContext, { reapplies: true });
    } else {
      await events.create(object as unknown as KubeObject, namespace, controllerManagerContext);
    }
  }
}

function eventObject(event: CorrelatedEvent, namespace: string, component: string): Event {
  const { about, type, reason, message, name, firstMs, lastMs, count } = event;
  return {
    kind: "Event",
    apiVersion: "v1",
    metadata: { name, namespace },
    involvedObject: { ...about },
    reason,
    message,
    source: { component },
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
    type,
    reportingComponent: component,
    reportingInstance: "",
  };
}
