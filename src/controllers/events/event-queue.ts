import { formatTime } from "../../api/time.ts";
import type { Event } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { type CorrelatedEvent, EventCorrelator, type Occurrence } from "./event-correlator.ts";

/** Maximum number of Events that wait to be written. Further Events are dropped, because an Event is a hint. */
const waitingMax = 1_000;

export interface EventQueueOptions {
  readonly clock: Clock;
  /** The source of the Events: upstream's name. */
  readonly component: string;
  readonly onError: (error: unknown) => void;
  /** Writes an Event. If its count is above 1, it replaces the Event of the same name, which may have expired. */
  readonly write: (event: Event) => Promise<void>;
}

/** Events on their way to the store, in order. */
export class EventQueue implements Disposable {
  readonly #options: EventQueueOptions;
  readonly #correlator = new EventCorrelator();
  readonly #waiting: CorrelatedEvent[] = [];
  #isWriting = false;
  #stopped = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  /** Returns at once. The Event is written later, and a failure is not reported to the caller. */
  record(occurrence: Occurrence): void {
    if (this.#stopped || this.#waiting.length >= waitingMax) return;
    const event = this.#correlator.correlate(occurrence, this.#options.clock.nowMs());
    if (event === undefined) return;
    this.#waiting.push(event);
    if (!this.#isWriting) void this.#writeAll();
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  async #writeAll(): Promise<void> {
    const { component, onError, write } = this.#options;
    this.#isWriting = true;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        await write(eventObject(event, component));
      } catch (error) {
        onError(error);
      }
    }
    this.#isWriting = false;
  }
}

function eventObject(event: CorrelatedEvent, component: string): Event {
  const { about, type, reason, message, name, firstMs, lastMs, count, host, annotations } = event;
  return {
    kind: "Event",
    apiVersion: "v1",
    metadata: {
      name,
      namespace: about.namespace || "default",
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    },
    involvedObject: { ...about },
    reason,
    message,
    source: { component, ...(host === undefined ? {} : { host }) },
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
    type,
    reportingComponent: component,
    reportingInstance: host ?? "",
  };
}
