import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";
import type { AppliedFeed } from "../applied-feed.ts";
import {
  type ApplyResult,
  type Command,
  type CorruptEntryError,
  type EventListener,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
} from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { methods } from "./client/messages.ts";
import type { CompactedMark } from "./compacted-mark.ts";
import type { EtcdHistory } from "./etcd-history.ts";
import type { EtcdMirror } from "./etcd-mirror.ts";
import type { EtcdWriter } from "./etcd-writer.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import type { ReadBarrier } from "./read-barrier.ts";
import { WriteGate } from "./write-gate.ts";

/** Time after which a read fails that etcd has not confirmed; longer than an election. */
export const readTimeoutMs = 5_000;
const compactTimeoutMs = 30_000;
/** Grace period of running writes when the store is closed. Without etcd they would take much longer. */
const closeWaitMsMax = 1_000;

export interface EtcdStoreParts {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly mirror: EtcdMirror;
  readonly writer: EtcdWriter;
  readonly history: EtcdHistory;
  readonly barrier: ReadBarrier;
  readonly compacted: CompactedMark;
  readonly feed: AppliedFeed;
  readonly clock: Clock;
}

/** The Store on etcd: current objects in memory, history and durability in etcd. Revisions are etcd's own. */
export class EtcdStore implements Store {
  readonly #parts: EtcdStoreParts;
  readonly #gate = new WriteGate();
  #failure: StoreUnavailableError | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: EtcdStoreParts) {
    this.#parts = parts;
  }

  get revision(): Revision {
    return this.#parts.mirror.objects.revision;
  }

  get compactedRevision(): Revision {
    return this.#parts.compacted.revision;
  }

  get size(): number {
    return this.#parts.mirror.objects.size;
  }

  get failure(): StoreUnavailableError | undefined {
    return this.#failure;
  }

  get corrupt(): readonly CorruptEntryError[] {
    return [...this.#parts.mirror.objects.corrupt.values()];
  }

  corruptAt(key: Key): CorruptEntryError | undefined {
    return this.#parts.mirror.objects.corrupt.get(key);
  }

  isStale(entry: Entry): boolean {
    return this.#parts.layout.isStale(entry);
  }

  /** Commits a command. @throws CorruptEntryError if the command would overwrite an unreadable object */
  async commit(command: Command): Promise<ApplyResult> {
    if (this.#failure !== undefined) throw this.#failure;
    const unreadable = this.corruptAt(command.key);
    const isDeletion = command.operation.kind === "delete" && command.expect.kind === "any";
    if (unreadable !== undefined && !isDeletion) throw unreadable;
    return this.#gate.run(command, () => this.#parts.writer.write(command));
  }

  async readBarrier(): Promise<Revision> {
    if (this.#failure !== undefined) throw this.#failure;
    const { barrier, feed } = this.#parts;
    const revision = await barrier.confirm();
    if (await feed.waitFor(revision, this.revision, readTimeoutMs)) return this.revision;
    throw new StoreUnavailableError(`etcd's watch does not reach revision ${revision}`, "notDone");
  }

  waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    return this.#parts.feed.waitFor(revision, this.revision, timeoutMs);
  }

  get(key: Key): Entry | undefined {
    return this.#parts.mirror.objects.get(key);
  }

  scan(prefix: Key): Entry[] {
    return this.#parts.mirror.objects.scan(prefix);
  }

  async scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]> {
    const { prefix, start = prefix, limit = Number.POSITIVE_INFINITY } = options;
    const { mirror, history } = this.#parts;
    if (at === this.revision) return mirror.objects.scan(prefix, start, limit);
    return history.scanAt(at, prefix, start, limit);
  }

  async eventsAfter(after: Revision, { prefix, limit }: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    return this.#parts.history.eventsAfter(after, this.revision, prefix, limit);
  }

  subscribe(listener: EventListener): Disposable {
    return this.#parts.feed.subscribe(listener);
  }

  /** Removes history in etcd, for all of its users. */
  async compact(revision: Revision): Promise<void> {
    const { client, compacted } = this.#parts;
    const until = Math.min(revision, this.revision);
    if (until <= compacted.revision) return;
    try {
      await client.call(methods.compact, { revision: until }, compactTimeoutMs);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      // Another server was faster.
      if (error.kind !== "compacted") throw new StoreUnavailableError(`etcd: ${error.message}`, "unknown");
    }
    compacted.advance(until);
  }

  /** Stops the store for good. Only a new process can continue. */
  fail(error: StoreUnavailableError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#gate.close(error);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { client, mirror, feed, clock } = this.#parts;
    const closed = new StoreUnavailableError("the store is closed");
    this.#gate.close(closed);
    await atMost(clock, closeWaitMsMax, this.#gate.idle());
    this.#failure ??= closed;
    mirror[Symbol.dispose]();
    feed.close();
    client[Symbol.dispose]();
  }
}
