import type { Entry, Key } from "../../api/entry.ts";
import type { StoreEvent } from "../store.ts";
import { type Database, type DatabaseOperation, writeDurably } from "./database.ts";
import { currentKey, eventKey, versionKey } from "./layout.ts";
import { encodeEntry, encodeEvent } from "./record.ts";
import { type StateRecord, stateOperation } from "./state-record.ts";

/** Time that changes wait, so that more of them are written together. */
const flushDelayMs = 100;
/** Size of pending changes at which they are written at once. */
const flushBytes = 2 * 1024 * 1024;
/** Size of pending changes at which applying entries waits for the disk. */
const pendingBytesMax = 32 * 1024 * 1024;

export interface FlushQueueOptions {
  readonly database: () => Database;
  /** Returns the current state record, including all added changes. */
  readonly record: () => StateRecord;
  /** The state record that the database holds. */
  readonly durable: StateRecord;
  readonly onFailure: (error: Error) => void;
}

/**
 * Writes applied changes to the database after they are visible. Each write is atomic and takes all pending changes. The
 * log can replay changes that are not on disk yet, and readers of history find them here. There is no write after a
 * failed one.
 */
export class FlushQueue {
  readonly #options: FlushQueueOptions;
  /** Changes that the database may lack, oldest first. */
  #pending: StoreEvent[] = [];
  #pendingBytes = 0;
  #durable: StateRecord;
  /** Number of calls of `add`, and how many of them are durable. */
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

  /**
   * Adds the changes that moved the record forward, if any. Returns a promise if the caller must wait because too much is
   * pending.
   */
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

  /** Resolves when everything added before the call is durable. @throws the error of the first failed write */
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

  /** Switches to another state. The pending changes do not belong to it. */
  replace(durable: StateRecord): void {
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#written = this.#added;
    this.#durable = durable;
  }

  /** Stops the timer. Pending changes stay in the log. */
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

/** Builds the write. The current state of an object that changed several times is written once. */
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
