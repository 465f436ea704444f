import type { StoreEvent } from "../store.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { type Database, type DatabaseOperation, writeDurably } from "./database.ts";
import { currentKey, eventKey, versionKey } from "./layout.ts";
import { encodeEntry, encodeEvent } from "./record.ts";
import { type StateRecord, stateOperation } from "./state-record.ts";

/** How long changes wait for others that are written with them. */
const flushDelayMs = 100;
/** From so many bytes on they wait no longer. */
const flushBytes = 2 * 1024 * 1024;
/** Beyond it whoever applies has to wait for the disk. */
const pendingBytesMax = 32 * 1024 * 1024;

export interface FlushQueueOptions {
  readonly database: () => Database;
  /** The state as of now, with everything that was added. */
  readonly record: () => StateRecord;
  /** What the database holds. */
  readonly durable: StateRecord;
  readonly onFailure: (error: Error) => void;
}

/**
 * Brings applied changes to the database: later than they are visible, all that there are at a time, each write whole.
 * What is not on disk yet can be replayed from the log, and is here for readers of history meanwhile. The first failed
 * write is the last.
 */
export class FlushQueue {
  readonly #options: FlushQueueOptions;
  /** What the database may not hold yet, oldest first. */
  #pending: StoreEvent[] = [];
  #pendingBytes = 0;
  #durable: StateRecord;
  /** Calls of `add`, and how many of them are durable. */
  #added = 0;
  #written = 0;
  #running: Promise<void> = Promise.resolve();
  #isWriting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: Error | undefined;

  constructor(options: FlushQueueOptions) {
    this.#options = options;
    this.#durable = options.durable;
  }

  get durable(): StateRecord {
    return this.#durable;
  }

  get pending(): readonly StoreEvent[] {
    return this.#pending;
  }

  /** The record has moved on, with these changes if any. A promise when there is so much to write that one must wait. */
  add(events: readonly StoreEvent[]): undefined | Promise<void> {
    this.#added++;
    for (const event of events) {
      this.#pending.push(event);
      this.#pendingBytes += event.entry.body.byteLength + event.entry.key.length;
    }
    if (this.#pendingBytes >= pendingBytesMax) return this.flush();
    if (this.#pendingBytes >= flushBytes) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), flushDelayMs);
    return undefined;
  }

  /** Resolves when everything that was added before the call is durable. @throws the error of the first failed write */
  async flush(): Promise<void> {
    const added = this.#added;
    while (this.#written < added && this.#failure === undefined) {
      this.#start();
      await this.#running;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Runs another write while no change is being written. @throws its error, which is final too */
  between(write: () => Promise<void>): Promise<void> {
    const run = this.#running.then(() => {
      if (this.#failure !== undefined) throw this.#failure;
      return write();
    });
    this.#running = run.catch((error: Error) => this.#fail(error));
    return run;
  }

  /** Another state takes the place of this one: nothing of what was pending belongs to it. */
  replace(durable: StateRecord): void {
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#written = this.#added;
    this.#durable = durable;
  }

  /** Ends the timer; what is pending stays in the log. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.stop();
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.between(() => this.#write()).then(
      () => {
        this.#isWriting = false;
        if (this.#pendingBytes >= flushBytes) this.#start();
      },
      () => undefined,
    );
  }

  async #write(): Promise<void> {
    const added = this.#added;
    if (added === this.#written) return;
    const events = this.#pending.slice();
    const bytes = this.#pendingBytes;
    const record = this.#options.record();
    await writeDurably(this.#options.database(), [...operationsOf(events), stateOperation(record)]);
    this.#pending = this.#pending.slice(events.length);
    this.#pendingBytes -= bytes;
    this.#written = added;
    this.#durable = record;
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.stop();
    this.#options.onFailure(error);
  }
}

/** An object that changed several times has its current state written once. */
function operationsOf(events: readonly StoreEvent[]): DatabaseOperation[] {
  const operations: DatabaseOperation[] = [];
  const current = new Map<Key, Entry | undefined>();
  for (const event of events) {
    const { entry, previous, type } = event;
    if (previous !== undefined) operations.push(putVersion(entry.key, previous, false));
    if (type === "DELETED") operations.push(putVersion(entry.key, entry, true));
    current.set(entry.key, type === "DELETED" ? undefined : entry);
    const key = eventKey(event.revision);
    operations.push({ type: "put", key, value: encodeEvent(key, event) });
  }
  for (const [objectKey, entry] of current) {
    const key = currentKey(objectKey);
    operations.push(entry === undefined ? { type: "del", key } : { type: "put", key, value: encodeEntry(key, entry) });
  }
  return operations;
}

function putVersion(objectKey: Key, entry: Entry, isTombstone: boolean): DatabaseOperation {
  const key = versionKey(objectKey, entry.revision);
  return { type: "put", key, value: encodeEntry(key, entry, isTombstone) };
}
