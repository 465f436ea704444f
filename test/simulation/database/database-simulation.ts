import { deepEqual } from "node:assert/strict";
import type { Entry as LogRecord } from "../../../raft/core/entry.ts";
import { toIndex, toTerm } from "../../../raft/core/ids.ts";
import { SeededRandom } from "../../../raft/testing/simulator/seeded-random.ts";
import { must } from "../../../raft/testing/simulator/violation.ts";
import { type Revision, toRevision } from "../../../src/api/revision.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { AppliedFeed } from "../../../src/storage/applied-feed.ts";
import { EventHistory } from "../../../src/storage/event-history.ts";
import { DataDirectoryError } from "../../../src/storage/mvcc/data-directory-error.ts";
import type { Database, openDatabase } from "../../../src/storage/mvcc/database.ts";
import { ImageError } from "../../../src/storage/mvcc/image.ts";
import { openState } from "../../../src/storage/mvcc/open-state.ts";
import { DamagedRecordError } from "../../../src/storage/mvcc/record.ts";
import { emptyState } from "../../../src/storage/mvcc/state-record.ts";
import { encodeCommands, encodeDecision } from "../../../src/storage/replicated/log-entry.ts";
import { LogFollowers } from "../../../src/storage/replicated/log-followers.ts";
import type { Proposer } from "../../../src/storage/replicated/proposer.ts";
import { ReplicaState } from "../../../src/storage/replicated/replica-state.ts";
import { ReplicatedState } from "../../../src/storage/replicated/replicated-state.ts";
import { type Command, CorruptEntryError, type StoreEvent } from "../../../src/storage/store.ts";
import { del, put } from "../../contract/store-commands.ts";
import { type DatabaseMutation, SimulatedDatabase } from "./simulated-database.ts";
import { SimulatedDirectory } from "./simulated-directory.ts";
import { SimulatedVolume } from "./simulated-volume.ts";

export interface DatabaseReport {
  seed: number;
  events: number;
  entries: number;
  checkpoints: number;
  images: number;
  restores: number;
  powerCuts: number;
  kills: number;
  failedWrites: number;
  /** Bits that were flipped in the database of a killed process, and how many of them it noticed. */
  flippedBits: number;
  noticedBits: number;
  comparisons: number;
}

/** How a process ends. */
type End = "powerCuts" | "kills" | "flippedBits";

const prefix = "/registry/";
const keys = ["a/x/1", "a/x/10", "a/y/1", "b/1", "b/2", "c/1"].map((name) => prefix + name);
const historyLimit = 1_000;
const failedWrite = "EIO";
const clusterId = "cluster";

interface Image {
  readonly index: number;
  readonly chunks: readonly Uint8Array[];
}

/** A process with its state on the volume. */
interface Replica {
  readonly volume: SimulatedVolume;
  readonly state: ReplicaState;
  readonly databases: SimulatedDatabase[];
  /** Whether the process has ended, or has to end because a write failed. */
  isOver: boolean;
}

/**
 * A replica's state with its database, under power cuts, kills and failing writes. The log is given, and durable. The
 * rules:
 *
 * - After each start, the database is readable, and the log has all entries that it lacks.
 * - With them, the objects and the whole history are those that follow from the log.
 * - An image is the state at its index, record by record, with its history.
 * - A process notices a flipped bit in its database, or needs the record no more. It never answers anything else than the
 *   truth, and takes over the state of a healthy replica, in which nothing is lost.
 */
export class DatabaseSimulation {
  readonly #random: SeededRandom;
  readonly #mutation: DatabaseMutation | undefined;
  readonly #report: DatabaseReport;
  /** The log, and the index of its first entry that is kept. */
  readonly #log: LogRecord[] = [];
  #firstKept = 1;
  readonly #truth = new ReplicatedState(emptyState, [], []);
  readonly #history = new EventHistory();
  #images: Image[] = [];
  #trace: string[] = [];

  constructor(seed: number, mutation?: DatabaseMutation) {
    this.#random = new SeededRandom(seed);
    this.#mutation = mutation;
    this.#report = {
      seed,
      events: 0,
      entries: 0,
      checkpoints: 0,
      images: 0,
      restores: 0,
      powerCuts: 0,
      kills: 0,
      failedWrites: 0,
      flippedBits: 0,
      noticedBits: 0,
      comparisons: 0,
    };
  }

  lastEvents(): readonly string[] {
    return this.#trace.slice(-40);
  }

  /** @throws Violation, or the error of a rule of the store */
  async run(steps: number): Promise<DatabaseReport> {
    let replica = await this.#start(new SimulatedVolume(this.#random));
    for (let step = 0; step < steps; step++) {
      const running = this.#step(replica);
      running.catch(() => undefined);
      const end = this.#random.below(100);
      if (end < 15) {
        await this.#turns();
        replica = await this.#restart(replica, end < 9 ? "powerCuts" : end < 12 ? "kills" : "flippedBits");
        continue;
      }
      try {
        await running;
      } catch (error) {
        if (replica.volume.isDamaged && isNoticed(error)) {
          await this.#end(replica);
          replica = await this.#recover();
          continue;
        }
        if (!replica.isOver && (error as { code?: string }).code !== failedWrite) throw error;
        replica.isOver = true;
      }
      if (replica.isOver) replica = await this.#restart(replica, "kills");
    }
    await this.#compare(replica.state);
    await replica.state.close();
    return this.#report;
  }

  async #step(replica: Replica): Promise<void> {
    const { state, databases } = replica;
    this.#report.events++;
    const choice = this.#random.below(100);
    if (choice < 55) return this.#append(state);
    if (choice < 62) return this.#compact(state);
    if (choice < 76) return this.#checkpoint(replica);
    if (choice < 82) return this.#takeImage(state);
    if (choice < 87) return this.#restore(state);
    if (choice < 90) {
      this.#report.failedWrites++;
      this.#note("the next write fails");
      return databases.at(-1)?.failNextWrite(failedWrite);
    }
    await this.#compare(state);
  }

  async #append(state: ReplicaState): Promise<void> {
    const count = 1 + this.#random.below(4);
    const commands = Array.from({ length: count }, () => this.#command());
    await this.#apply(state, encodeCommands(this.#nextId(), commands));
  }

  #command(): Command {
    const key = this.#random.pick(keys);
    const current = this.#truth.objects.get(key);
    const expect =
      this.#random.chance(200) && current !== undefined
        ? ({ kind: "revision", revision: current.revision } as const)
        : ({ kind: "any" } as const);
    if (this.#random.chance(300)) return del(key, "gone");
    return put(key, "x".repeat(this.#random.below(40)), { expect });
  }

  async #compact(state: ReplicaState): Promise<void> {
    const { revision, compactedRevision } = this.#truth.objects;
    const to = compactedRevision + this.#random.below(revision - compactedRevision + 1);
    if (to > compactedRevision) {
      await this.#apply(state, encodeDecision(this.#nextId(), { kind: "compact", revision: toRevision(to) }));
    }
  }

  #nextId() {
    const basis = this.#log.length;
    return { origin: "origin", sequence: basis + 1, floor: basis + 1, basis };
  }

  async #apply(state: ReplicaState, data: Uint8Array): Promise<void> {
    const record: LogRecord = { index: toIndex(this.#log.length + 1), term: toTerm(1), kind: "normal", data };
    this.#log.push(record);
    this.#report.entries++;
    const effect = this.#truth.apply(record, () => undefined);
    this.#history.add(effect?.events ?? []);
    if (effect?.compacted === true) this.#history.trim(this.#truth.objects);
    this.#note(`entry ${record.index}: revision ${this.#truth.objects.revision}`);
    await state.apply([record]);
  }

  /** Drops the entries of the log that a checkpoint makes unnecessary. */
  async #checkpoint(replica: Replica): Promise<void> {
    const index = await replica.state.checkpoint();
    if (replica.isOver) return;
    this.#report.checkpoints++;
    this.#firstKept = Math.max(this.#firstKept, index + 1);
    this.#note(`checkpoint ${index}`);
  }

  async #takeImage(state: ReplicaState): Promise<void> {
    const image = await this.#imageOf(state);
    this.#note(`image ${image.index}`);
    await this.#compareImage(image);
    this.#images = [...this.#images.slice(-2), image];
    this.#report.images++;
  }

  async #imageOf(state: ReplicaState): Promise<Image> {
    const image = await state.image();
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of image.chunks) chunks.push(chunk);
    } finally {
      image.release();
    }
    return { index: image.header.record.index, chunks };
  }

  /** Takes over an image of another replica, which is never behind the own state. */
  async #restore(state: ReplicaState): Promise<void> {
    const image = this.#images.findLast(({ index }) => index >= state.index);
    if (image === undefined) return;
    await restore(state, image);
    this.#report.restores++;
    this.#note(`restored ${image.index}`);
  }

  async #restart(replica: Replica, how: End): Promise<Replica> {
    this.#report[how]++;
    this.#note(how === "powerCuts" ? "power cut" : "kill");
    const volume = how === "powerCuts" ? replica.volume.afterPowerCut() : replica.volume.afterKill();
    await this.#end(replica);
    if (how === "flippedBits") {
      const bit = volume.flipBit();
      this.#note(`flipped bit ${bit?.bit} of byte ${bit?.place} of ${JSON.stringify(bit?.key)}`);
    }
    return volume.isDamaged ? this.#startDamaged(volume) : this.#start(volume);
  }

  async #end(replica: Replica): Promise<void> {
    replica.isOver = true;
    for (const database of replica.databases) await database.close();
    void replica.state.close().catch(() => undefined);
  }

  /** Starts a process whose database is damaged. If it notices, it starts again with the state of a healthy replica. */
  async #startDamaged(volume: SimulatedVolume): Promise<Replica> {
    let replica: Replica | undefined;
    try {
      replica = await this.#open(volume);
      if (replica.state.corrupt.size === 0) {
        await this.#catchUp(replica);
        return replica;
      }
    } catch (error) {
      if (!isNoticed(error)) throw error;
    }
    if (replica !== undefined) await this.#end(replica);
    return this.#recover();
  }

  /** Starts a process with an empty database and the state of a healthy replica, in place of a damaged one. */
  async #recover(): Promise<Replica> {
    this.#report.noticedBits++;
    this.#note("the damage was noticed");
    const healthy = await this.#open(new SimulatedVolume(this.#random));
    await healthy.state.apply(this.#log);
    const image = await this.#imageOf(healthy.state);
    await healthy.state.close();
    const recovered = await this.#open(new SimulatedVolume(this.#random));
    await restore(recovered.state, image);
    await this.#catchUp(recovered);
    return recovered;
  }

  async #start(volume: SimulatedVolume): Promise<Replica> {
    const replica = await this.#open(volume);
    const { index } = replica.state;
    must(index + 1 >= this.#firstKept, () => `the database is at ${index}, and the log begins at ${this.#firstKept}`);
    await this.#catchUp(replica);
    return replica;
  }

  /** Applies the rest of the log, and compares. */
  async #catchUp({ state }: Replica): Promise<void> {
    await state.apply(this.#log.slice(state.index));
    await this.#compare(state);
  }

  #open(volume: SimulatedVolume): Promise<Replica> {
    return this.#openWith(volume, this.#mutation);
  }

  async #openWith(volume: SimulatedVolume, mutation: DatabaseMutation | undefined): Promise<Replica> {
    const databases: SimulatedDatabase[] = [];
    const open = (async (path: string): Promise<Database> => {
      const database = new SimulatedDatabase({ volume, path, random: this.#random, mutation });
      databases.push(database);
      return database.asDatabase;
    }) as typeof openDatabase;
    const directory = new SimulatedDirectory(volume).asDirectory;
    const opened = await openState(directory, open);
    this.#note(`start at ${opened.record.index} of ${this.#log.length}`);
    const onFailure = () => {
      replica.isOver = true;
    };
    const feed = new AppliedFeed(systemClock);
    const state = new ReplicaState({
      directory,
      clusterId,
      opened,
      feed,
      proposer: noProposer,
      followers: new LogFollowers(),
      open,
      onFailure,
    });
    const replica: Replica = { volume, state, databases, isOver: false };
    return replica;
  }

  /** Compares objects and history with what follows from the log. */
  async #compare(state: ReplicaState): Promise<void> {
    const { objects } = this.#truth;
    if (state.index !== this.#truth.index) return;
    this.#report.comparisons++;
    const { revision, compactedRevision } = objects;
    deepEqual(textOf(state.objects.scan(prefix)), textOf(objects.scan(prefix)));
    const events = await state.history.eventsAfter(compactedRevision, prefix, historyLimit);
    const expected = this.#history.eventsAfter(objects, compactedRevision, prefix, historyLimit);
    deepEqual(events.map(eventText), expected.map(eventText));
    const at = toRevision(compactedRevision + this.#random.below(revision - compactedRevision + 1));
    const then = await state.history.scanAt(at, prefix, prefix, historyLimit);
    deepEqual(textOf(then), textOf(this.#history.scanAt(objects, at, prefix, prefix, historyLimit)));
  }

  /** Starts a replica from an image, and compares it record by record. */
  async #compareImage(image: Image): Promise<void> {
    const replica = await this.#openWith(new SimulatedVolume(this.#random), undefined);
    const { state } = replica;
    await restore(state, image);
    await state.apply(this.#log.slice(image.index));
    if (replica.isOver) throw new Error("the image cannot be stored");
    await this.#compare(state);
    await state.close();
  }

  async #turns(): Promise<void> {
    for (let left = this.#random.below(6); left > 0; left--) await new Promise<void>((done) => setImmediate(done));
  }

  #note(text: string): void {
    this.#trace.push(text);
    if (this.#trace.length > 1_000) this.#trace = this.#trace.slice(-100);
  }
}

async function restore(state: ReplicaState, { index, chunks }: Image): Promise<void> {
  await state.restore(
    toIndex(index),
    (async function* () {
      yield* chunks;
    })(),
  );
}

/** Reports whether the error is one with which the store refuses damaged records. */
function isNoticed(error: unknown): boolean {
  return (
    error instanceof DataDirectoryError ||
    error instanceof CorruptEntryError ||
    error instanceof DamagedRecordError ||
    error instanceof ImageError
  );
}

const noProposer = {
  find: () => undefined,
  applied: () => undefined,
  stateReplaced: () => undefined,
} as unknown as Proposer;

function textOf(entries: readonly { key: string; revision: Revision; body: Uint8Array }[]): string[] {
  return entries.map(({ key, revision, body }) => `${key} ${revision} ${Buffer.from(body).toString()}`);
}

function eventText({ revision, type, entry, previous }: StoreEvent): string {
  return `${revision} ${type} ${textOf([entry]).join()} ${previous === undefined ? "" : textOf([previous]).join()}`;
}
