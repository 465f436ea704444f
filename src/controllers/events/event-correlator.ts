import type { ObjectReference } from "../../api/types/core-v1.ts";
import { RecentMap } from "../../process/recent-map.ts";

/** Maximum number of remembered objects, groups and Events, each. */
const rememberedMax = 4_096;
/** Number of different messages of one reason from which they share one Event. */
const similarMax = 10;
/** Time without a similar Event after which its group is forgotten. */
const similarMs = 600_000;
/** Number of Events about one object that are recorded at once, and the time until another may follow. */
const burst = 25;
const refillMs = 300_000;

export interface Occurrence {
  readonly about: ObjectReference;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** Node that reports it, if a node does. */
  readonly host?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** An Event to write. If its count is above 1, it replaces the Event of the same name. */
export interface CorrelatedEvent extends Occurrence {
  readonly name: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

interface Similar {
  readonly messages: Set<string>;
  readonly lastMs: number;
}

interface Written {
  readonly name: string;
  readonly firstMs: number;
  readonly count: number;
}

/**
 * Limits the Events of one source, as client-go does: a repeated Event is counted, Events that differ only in their
 * message are combined, and an object that causes too many gets no more for a while.
 */
export class EventCorrelator {
  readonly #buckets = new RecentMap<string, Bucket>(rememberedMax);
  readonly #similar = new RecentMap<string, Similar>(rememberedMax);
  readonly #written = new RecentMap<string, Written>(rememberedMax);
  /** Makes names unique that are generated in the same millisecond. */
  #sequence = 0;

  /** Returns undefined if the Event is not recorded. */
  correlate(occurrence: Occurrence, nowMs: number): CorrelatedEvent | undefined {
    const { about, type, reason, message } = occurrence;
    const object = JSON.stringify([about.kind, about.namespace, about.name, about.uid, about.apiVersion, type]);
    if (!this.#mayRecord(object, nowMs)) return undefined;
    const group = JSON.stringify([object, reason]);
    const isCombined = this.#isOneOfMany(group, message, nowMs);
    const key = isCombined ? group : JSON.stringify([object, about.fieldPath, reason, message]);
    const written = this.#written.get(key);
    const event: CorrelatedEvent = {
      ...occurrence,
      message: isCombined ? `(combined from similar events): ${message}` : message,
      name: written?.name ?? this.#nameOf(about, nowMs),
      firstMs: written?.firstMs ?? nowMs,
      lastMs: nowMs,
      count: (written?.count ?? 0) + 1,
    };
    this.#written.set(key, event);
    return event;
  }

  #mayRecord(object: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(object) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, bucket.tokens + (nowMs - bucket.atMs) / refillMs);
    this.#buckets.set(object, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs });
    return tokens >= 1;
  }

  #isOneOfMany(group: string, message: string, nowMs: number): boolean {
    const known = this.#similar.get(group);
    const messages = known === undefined || nowMs - known.lastMs > similarMs ? new Set<string>() : known.messages;
    this.#similar.set(group, { messages, lastMs: nowMs });
    if (messages.size < similarMax - 1 || messages.has(message)) {
      messages.add(message);
      return messages.size >= similarMax;
    }
    return true;
  }

  #nameOf({ name = "" }: ObjectReference, nowMs: number): string {
    this.#sequence = (this.#sequence + 1) % 1_000_000;
    const nanoseconds = BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(this.#sequence);
    return `${name}.${nanoseconds.toString(16)}`;
  }
}
