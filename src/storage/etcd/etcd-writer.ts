import type { Entry, ObjectIndex } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { fillGap } from "../resource-version-gap.ts";
import { type ApplyResult, type Command, type Operation, type Store, StoreUnavailableError } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { methods, numberOf, type TxnResponse } from "./client/messages.ts";
import { readEntry } from "./entry-reader.ts";
import type { EtcdMirror } from "./etcd-mirror.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import type { LeaseManager } from "./lease-manager.ts";
import { isEqual, type PendingWrite, type PendingWrites, type SeenChange } from "./pending-writes.ts";
import type { SameEtcd } from "./same-etcd.ts";
import { premisesHold, transactionOf } from "./transaction.ts";

/** Time after which a write fails that etcd has not answered; longer than an election. */
const writeTimeoutMs = 10_000;

export interface EtcdWriterParts {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly mirror: EtcdMirror;
  readonly pending: PendingWrites;
  readonly leases: LeaseManager;
  readonly clock: Clock;
  readonly same: SameEtcd;
  /** The store of the objects on which writes depend, if it is another one. */
  readonly premiseStore?: Pick<Store, "get"> | undefined;
  /** Waits until the mirror has a revision. @returns false after the time */
  readonly reached: (revision: Revision, timeoutMs: number) => Promise<boolean>;
}

/** A write under way. */
interface Attempt {
  readonly command: Command;
  readonly pending: PendingWrite;
  readonly deadlineMs: number;
  /** Whether etcd may have done it in an attempt without an answer. */
  isUncertain: boolean;
}

/**
 * Writes with transactions. The changes that the watch delivers tell whether a transaction without an answer was done.
 * It is sent again only with the guard of a revision, which lets at most one attempt through: no revision comes back.
 * Any other attempt may still arrive late, after somebody has deleted or changed the object, and undo that.
 */
export class EtcdWriter {
  readonly #parts: EtcdWriterParts;

  constructor(parts: EtcdWriterParts) {
    this.#parts = parts;
  }

  /** @throws StoreUnavailableError, StatusError, EncryptionFailedError */
  async write(asked: Command): Promise<ApplyResult> {
    const { layout, mirror, pending, clock, premiseStore } = this.#parts;
    // A transaction cannot guard what is in another etcd. So a premise may change while the write is under way.
    if (premiseStore !== undefined && !holdIn(premiseStore, asked)) return { kind: "outdated" };
    const command = premiseStore === undefined ? asked : { ...asked, premises: [] };
    const { key, operation } = command;
    const value = operation.kind === "put" ? await layout.valueOf(key, operation.index, operation.body) : undefined;
    const entryAt = (revision: Revision, createRevision: Revision) =>
      entryOf(command, revision, createRevision, mirror.objects.get(key));
    using begun = pending.begin({ etcdKey: layout.etcdKey(key), value, entryAt }, mirror.objects.revision);
    const deadlineMs = clock.steadyMs() + writeTimeoutMs;
    return await this.#run({ command, pending: begun, deadlineMs, isUncertain: false });
  }

  async #run(attempt: Attempt): Promise<ApplyResult> {
    for (;;) {
      let response: TxnResponse;
      try {
        response = await this.#send(attempt);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        const outcome = await this.#afterFailure(attempt, error);
        if (outcome !== undefined) return outcome;
        continue;
      }
      const revision = this.#parts.same.revisionOf(response.header, attempt.pending.since, "unknown");
      await this.#mirrored(revision, attempt, response.succeeded);
      return response.succeeded ? this.#applied(attempt, revision) : this.#refused(attempt, response);
    }
  }

  async #send({ command, pending, deadlineMs }: Attempt): Promise<TxnResponse> {
    const { client, layout, leases } = this.#parts;
    const { value } = pending.write;
    const ttl = value === undefined ? undefined : layout.ttlSecondsOf(command.key);
    const lease = ttl === undefined ? undefined : await leases.leaseFor(ttl, this.#leftMs(deadlineMs));
    const request = transactionOf(command, layout, value, lease);
    try {
      return await client.call(methods.txn, request, this.#leftMs(deadlineMs));
    } catch (error) {
      if (ttl !== undefined && (error as EtcdError).kind === "leaseNotFound") leases.forget(ttl);
      throw error;
    }
  }

  /** Returns the outcome of a write without an answer; undefined to send it again. */
  async #afterFailure(attempt: Attempt, error: EtcdError): Promise<ApplyResult | undefined> {
    const { client } = this.#parts;
    if (error.kind === "interrupted") attempt.isUncertain = true;
    if (error.kind === "noSpace") {
      const own = await this.#ownChange(attempt);
      if (own === undefined) throw failureOf(error, attempt.isUncertain);
      return this.#applied(attempt, own.revision);
    }
    const isOver = this.#leftMs(attempt.deadlineMs) <= 1;
    if ((!error.isPassing && error.kind !== "leaseNotFound") || isOver) throw failureOf(error, attempt.isUncertain);
    await client.pause();
    if (!attempt.isUncertain || attempt.command.expect.kind === "revision") return undefined;
    const own = await this.#ownChange(attempt);
    if (own === undefined) throw failureOf(error, true);
    return this.#applied(attempt, own.revision);
  }

  /** Waits until the mirror shows the outcome. */
  async #mirrored(revision: Revision, attempt: Attempt, isDone: boolean): Promise<void> {
    if (await this.#parts.reached(revision, this.#leftMs(attempt.deadlineMs))) return;
    const isUnknown = isDone || attempt.isUncertain;
    throw new StoreUnavailableError("etcd's watch does not deliver changes", isUnknown ? "unknown" : "notDone");
  }

  #applied({ command, pending }: Attempt, revision: Revision): ApplyResult {
    const { mirror } = this.#parts;
    const change = pending.changeAt(revision);
    if (change?.entry !== undefined) return { kind: "applied", revision, entry: change.entry };
    // The mirror took over a later state, or never showed the object because it cannot be decoded.
    const current = mirror.objects.get(command.key);
    const createRevision = command.expect.kind === "absent" ? revision : (current?.createRevision ?? revision);
    return { kind: "applied", revision, entry: entryOf(command, revision, createRevision, current) };
  }

  async #refused(attempt: Attempt, response: TxnResponse): Promise<ApplyResult> {
    const { layout, mirror } = this.#parts;
    const { command } = attempt;
    if (attempt.isUncertain) {
      const own = await this.#ownChange(attempt);
      if (own !== undefined) return this.#applied(attempt, own.revision);
    }
    if (!premisesHold(command.premises ?? [], response)) return { kind: "outdated" };
    const [kv] = response.responses[0]?.range?.kvs ?? [];
    if (kv === undefined) return { kind: "rejected", current: undefined };
    const known = mirror.objects.get(command.key);
    if (known?.revision === numberOf(kv.modRevision)) return { kind: "rejected", current: known };
    const current = await readEntry(layout, command.key, kv);
    if (current instanceof Error) throw current;
    return { kind: "rejected", current };
  }

  /**
   * Looks for the change that an earlier attempt made; undefined if none did.
   * @throws StoreUnavailableError if that cannot be told
   */
  async #ownChange(attempt: Attempt): Promise<SeenChange | undefined> {
    const { client, layout, same } = this.#parts;
    const { pending, command, deadlineMs } = attempt;
    const left = () => this.#leftMs(deadlineMs);
    let revision: Revision;
    try {
      const request = { key: layout.etcdKey(command.key), keysOnly: true };
      const { header } = await client.repeat(methods.range, request, left());
      revision = same.revisionOf(header, pending.since, "unknown");
    } catch (error) {
      throw error instanceof StoreUnavailableError ? error : failureOf(error, true);
    }
    await this.#mirrored(revision, attempt, true);
    const found = pending.changesAfter(pending.since).filter((change) => isEqual(change.value, pending.write.value));
    const own = ownAmong(command, found, pending);
    if (own === undefined && pending.hasGap)
      throw failureOf(new EtcdError("interrupted", "history is compacted"), true);
    // Another request of this server may have made this change.
    if (own !== undefined && pending.hasTwin) {
      throw new StoreUnavailableError(
        `several equal writes of ${command.key} ran at the same time, and it cannot be told whose was stored`,
      );
    }
    return own;
  }

  #leftMs(deadlineMs: number): number {
    return Math.max(1, deadlineMs - this.#parts.clock.steadyMs());
  }
}

function holdIn(store: Pick<Store, "get">, { premises = [] }: Command): boolean {
  return premises.every(({ key, revision }) => store.get(key)?.revision === revision);
}

/** Returns the change that the command made, of those with its bytes. */
function ownAmong({ expect }: Command, found: readonly SeenChange[], pending: PendingWrite): SeenChange | undefined {
  if (expect.kind === "absent") return found.find((change) => change.isCreation);
  if (expect.kind === "any") return found.at(0);
  // The guard lets only the next change after its revision through.
  const [next] = pending.changesAfter(expect.revision);
  return found.find((change) => change === next);
}

const unknownIndex: ObjectIndex = { apiVersion: "", uid: "", labels: undefined, fields: undefined, owners: undefined };

function entryOf(
  { key, operation }: Command,
  revision: Revision,
  createRevision: Revision,
  current: Entry | undefined,
): Entry {
  const index = operation.kind === "put" ? operation.index : (current?.index ?? unknownIndex);
  return { key, revision, createRevision, index, body: fillGap(bodyOf(operation), revision) };
}

function bodyOf(operation: Operation) {
  return operation.kind === "put" ? operation.body : operation.last;
}

function failureOf(error: unknown, isUncertain: boolean): Error {
  const outcome = isUncertain ? "unknown" : "notDone";
  if (!(error instanceof EtcdError)) return new StoreUnavailableError(thrownText(error), outcome);
  if (!isUncertain && error.kind === "tooLarge") return status.internal(error.message);
  return new StoreUnavailableError(`etcd: ${error.message}`, outcome);
}
