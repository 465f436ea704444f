import type { Entry } from "./core/entry.ts";
import type { Message } from "./core/message.ts";
import type { Ready, Write } from "./core/ready.ts";
import type { ReachCrashPoint } from "./crash-point.ts";
import type { Log } from "./storage/log.ts";
import type { UnderWay } from "./under-way.ts";

export interface DurabilityContractParts {
  readonly log: Pick<Log, "append">;
  /** Writes to the log that have begun and not ended. */
  readonly writes: UnderWay;
  readonly reach: ReachCrashPoint;
  /** Sends messages that promise nothing new. */
  readonly send: (messages: readonly Message[]) => void;
  /** Sends messages whose promises are durable. */
  readonly sendPromises: (messages: readonly Message[]) => void;
  /** Tells the core that a write is durable. */
  readonly persisted: (write: Write, tookMs: number) => void;
  readonly apply: (committed: readonly Entry[]) => void;
  /** Continues after a finished write, unless the member has stopped. */
  readonly resume: (run: () => void) => void;
  readonly fail: (error: Error) => void;
}

/**
 * The durability contract: a member never sends a promise that a crash could make it forget. A vote is a promise, and so
 * is the acknowledgement of entries. The core sorts its output into four kinds (see `core/ready.ts`), which are handled
 * in this order:
 *
 *     1  messagesNow            sent at once
 *     2  write                  begun; several may be under way, and they end in the order in which they began
 *     3  messagesAfterPersist   sent when this write and all before it are durable; at once if none is under way
 *     4  committed              applied; they are durable here and on a quorum
 *
 * 1 before 2: the followers store new entries while the leader does. 3 after 2: the write that was just begun counts. 4
 * needs no wait, because the core hands out only entries that are durable here. A failed write ends the member, and held
 * messages are then never sent.
 */
export class DurabilityContract {
  readonly #parts: DurabilityContractParts;
  /** Held messages in sending order. `after` is the number of writes that must have ended. */
  #held: { readonly after: number; readonly messages: readonly Message[] }[] = [];

  constructor(parts: DurabilityContractParts) {
    this.#parts = parts;
  }

  /** Executes the output of the core. */
  take({ messagesNow, write, messagesAfterPersist, committed }: Ready): void {
    this.#parts.reach("beforeSend");
    this.#parts.send(messagesNow);
    if (write !== undefined) this.#write(write);
    this.#sendWhenDurable(messagesAfterPersist);
    if (committed.length > 0) this.#parts.apply(committed);
  }

  #write(write: Write): void {
    const { log, writes, resume, fail } = this.#parts;
    const begunMs = performance.now();
    writes.begin(begunMs);
    log.append(write).then(() => resume(() => this.#written(write, begunMs)), fail);
  }

  #written(write: Write, begunMs: number): void {
    const { writes, persisted, sendPromises } = this.#parts;
    const nowMs = performance.now();
    writes.end(nowMs);
    persisted(write, nowMs - begunMs);
    while (this.#held[0] !== undefined && this.#held[0].after <= writes.done) {
      sendPromises(this.#held.shift()?.messages ?? []);
    }
  }

  #sendWhenDurable(messages: readonly Message[]): void {
    const { writes, sendPromises } = this.#parts;
    if (writes.isIdle) sendPromises(messages);
    else if (messages.length > 0) this.#held.push({ after: writes.begun, messages });
  }
}
