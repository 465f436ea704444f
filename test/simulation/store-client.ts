import { must } from "../../raft/testing/simulator/violation.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import { everyField } from "../../src/api/field-selector.ts";
import { everyLabel } from "../../src/api/label-selector.ts";
import { toRevision } from "../../src/api/revision.ts";
import { StatusError } from "../../src/api/status.ts";
import { waitForVersion } from "../../src/http/handlers/freshness.ts";
import { readPage } from "../../src/http/handlers/list.ts";
import { encodeContinueToken } from "../../src/registry/continue-token.ts";
import type { Pin } from "../../src/storage/cacher/facet.ts";
import { type ApplyResult, type Command, CompactedError, StoreUnavailableError } from "../../src/storage/store.ts";
import type { Knowledge } from "./knowledge.ts";
import { bodyOf, colors, isColor, keys, resources } from "./simulated-object.ts";
import { ConnectionLost, DamageNoticed, type SimulatedServer } from "./simulated-server.ts";
import { type Truth, textOf, type Version, versionOf } from "./truth.ts";

export interface StoreClientOptions {
  readonly world: World;
  readonly truth: Truth;
  readonly knowledge: Knowledge;
  readonly nextOperation: () => number;
  /** Returns one of the available replicas. */
  readonly pickServer: () => SimulatedServer | undefined;
  /** Whether unknown outcomes are reported as known. */
  readonly hidesUnknown: boolean;
}

export interface Counts {
  writes: number;
  acknowledged: number;
  rejected: number;
  unknown: number;
  notDone: number;
  checkedReads: number;
  lists: number;
  refusedReads: number;
  expired: number;
  /** Reads that were refused because of a damaged record. */
  damagedReads: number;
}

/** Reads and writes through any server, one request at a time, and compares every answer with the truth. */
export class StoreClient {
  readonly #options: StoreClientOptions;
  /** The newest revision in any answer that it received. */
  #seen = 1;
  /** Writes that were reported as not done. They must never happen. */
  readonly notDone: number[] = [];
  readonly counts: Counts = {
    writes: 0,
    acknowledged: 0,
    rejected: 0,
    unknown: 0,
    notDone: 0,
    checkedReads: 0,
    lists: 0,
    refusedReads: 0,
    expired: 0,
    damagedReads: 0,
  };

  constructor(options: StoreClientOptions) {
    this.#options = options;
  }

  /** Makes one request and checks its answer. @throws Violation */
  async ask(server: SimulatedServer): Promise<void> {
    const { random } = this.#options.world;
    try {
      const draw = random.below(100);
      if (draw < 50) await this.#write(server);
      else if (draw < 62) await this.readNewest(server);
      else if (draw < 74) await this.#readNotOlder(server);
      else if (draw < 80) await this.#readAny(server);
      else if (draw < 92) await this.#list(server);
      else if (draw < 95) await this.#listAt(server);
      else if (draw < 98) await this.#compact(server);
      else await this.#decideMember(server);
    } catch (error) {
      this.#countRefusal(error);
    }
  }

  /** @throws Violation, or the store's own error */
  async readNewest(server: SimulatedServer): Promise<void> {
    const { knowledge, world } = this.#options;
    const { revision: floor, index } = knowledge;
    const key = world.random.pick(keys);
    await server.call(async () => waitForVersion(server.store, undefined));
    const at = server.store.revision;
    must(at >= floor, () => `member ${server.id} answers a consistent read at ${at} where ${floor} was known`);
    const applied = server.index;
    must(
      applied >= index,
      () => `member ${server.id} answers a consistent read at entry ${applied}, ${index} was known`,
    );
    this.#read(server, key);
    knowledge.learn(at);
  }

  async #readNotOlder(server: SimulatedServer): Promise<void> {
    const { random } = this.#options.world;
    const asked = this.#seen + (random.chance(100) ? random.below(3) : 0);
    await server.call(async () => waitForVersion(server.store, asked));
    const { revision } = server.store;
    must(revision >= asked, () => `member ${server.id} answers at ${revision} a read that names ${asked}`);
    this.#read(server, random.pick(keys));
  }

  async #readAny(server: SimulatedServer): Promise<void> {
    await server.call(async () => waitForVersion(server.store, 0));
    this.#read(server, this.#options.world.random.pick(keys));
  }

  /** Runs in the turn in which the answer is given. */
  #read({ id, store }: SimulatedServer, key: string): void {
    const { revision } = store;
    this.counts.checkedReads++;
    const entry = store.get(key);
    const held = entry === undefined ? undefined : versionOf(entry);
    const expected = this.#options.truth.at(key, revision);
    must(textOf(held) === textOf(expected), () => {
      return `member ${id} reads at ${revision}: ${textOf(held)} instead of ${textOf(expected)}`;
    });
    this.#see(revision);
  }

  /** Lists page by page, each perhaps from another server. */
  async #list(first: SimulatedServer): Promise<void> {
    const { world, knowledge, pickServer, truth } = this.#options;
    const { random } = world;
    const resource = random.pick(resources);
    const prefix = random.chance(500) ? resource : `${resource}a/`;
    const color = random.chance(300) ? random.pick(colors) : undefined;
    const pins: Pin[] = color === undefined ? [] : [{ facet: "label color", values: [color] }];
    const selection = { prefix, key: undefined, pins, matches: color === undefined ? undefined : isColor(color) };
    const limit = random.pick([0, 0, 1, 2, 3]);
    const version = random.pick([undefined, undefined, 0, this.#seen]);
    const floor = version === undefined ? knowledge.revision : version;
    const found: Version[] = [];
    let token = "";
    let at: number | undefined;
    for (let server: SimulatedServer | undefined = first; server !== undefined; ) {
      const { store, cachers } = server;
      const cacher = cachers.cacher(resource);
      const resourceVersion = token === "" ? version : undefined;
      const match = version === undefined || version === 0 || token !== "" ? "" : "NotOlderThan";
      const options = { ...listDefaults, limit, resourceVersion, match, continue: token } as const;
      const page = await this.#page(at, () => readPage({ cacher, store }, selection, options), server);
      at ??= page.revision;
      must(page.revision === at, () => `a list at ${at} goes on at ${page.revision}`);
      for (const entry of page.entries) found.push(versionOf(entry));
      if (page.next === undefined || limit === 0) break;
      must(page.entries.length === limit, () => `a page of ${limit} has ${page.entries.length} and goes on`);
      token = encodeContinueToken({ revision: page.revision, start: page.next }, prefix);
      server = random.chance(500) ? (pickServer() ?? server) : server;
    }
    const revision = at as number;
    must(revision >= floor, () => `a list is at ${revision} where ${floor} was known or named`);
    this.#checkList(found, truth.listAt(prefix, revision), color, revision);
    if (version === undefined) knowledge.learn(revision);
    this.#see(revision);
  }

  /** Reads the state of some time ago, which may be compacted. */
  async #listAt(server: SimulatedServer): Promise<void> {
    const { world, truth } = this.#options;
    const resource = world.random.pick(resources);
    const revision = Math.max(1, this.#seen - world.random.below(40));
    const selection = { prefix: resource, key: undefined, pins: [], matches: undefined };
    const options = { ...listDefaults, resourceVersion: revision, match: "Exact" } as const;
    const cacher = server.cachers.cacher(resource);
    const page = await this.#page(
      revision,
      () => readPage({ cacher, store: server.store }, selection, options),
      server,
    );
    must(page.revision === revision, () => `a list at exactly ${revision} is at ${page.revision}`);
    this.#checkList(page.entries.map(versionOf), truth.listAt(resource, revision), undefined, revision);
  }

  /** Only a compacted revision may be refused. */
  async #page<T>(at: number | undefined, read: () => Promise<T>, server: SimulatedServer): Promise<T> {
    try {
      return await server.call(read);
    } catch (error) {
      const { compacted } = this.#options.truth;
      const isGone = error instanceof StatusError && error.status.code === 410;
      must(
        !isGone || (at ?? compacted) < compacted,
        () => `a list at ${at} is gone, and history goes back to ${compacted}`,
      );
      throw error;
    }
  }

  #checkList(found: readonly Version[], all: readonly Version[], color: string | undefined, at: number): void {
    this.counts.lists++;
    const expected = all.filter((version) => color === undefined || version.color === color).map(textOf);
    const listed = found.map(textOf);
    must(listed.join() === expected.join(), () => {
      return `a list at ${at} has\n  ${listed.join("\n  ")}\nwhere there was\n  ${expected.join("\n  ")}`;
    });
  }

  async #write(server: SimulatedServer): Promise<void> {
    const { nextOperation, knowledge, truth } = this.#options;
    const operation = nextOperation();
    const command = this.#command(server, operation);
    const { revision: floor, index: floorIndex } = knowledge;
    this.counts.writes++;
    const result = await this.#commit(server, command, operation);
    if (result === undefined) return;
    const verdict = truth.verdictOn(operation);
    must(verdict !== undefined, () => `operation ${operation} is answered and stands nowhere in the log`);
    must(
      verdict.index > floorIndex,
      () => `operation ${operation} takes effect at ${verdict.index}, before it was asked`,
    );
    knowledge.learnIndex(verdict.index);
    const told = result.kind === "applied" ? result.revision : undefined;
    must(told === verdict.revision, () => `operation ${operation} is told ${told}, and got ${verdict.revision}`);
    if (result.kind !== "applied") {
      this.counts.rejected++;
      return;
    }
    this.counts.acknowledged++;
    const { revision } = result;
    must(revision > floor, () => `operation ${operation} gets ${revision} where ${floor} was known before`);
    must(server.store.revision >= revision, () => `operation ${operation} is told before it is visible`);
    knowledge.learn(revision);
    this.#see(revision);
  }

  async #commit(server: SimulatedServer, command: Command, operation: number): Promise<ApplyResult | undefined> {
    try {
      return await server.call(() => server.store.commit(command));
    } catch (error) {
      if (error instanceof StoreUnavailableError && (error.outcome === "notDone" || this.#options.hidesUnknown)) {
        this.counts.notDone++;
        this.notDone.push(operation);
      } else if (error instanceof ConnectionLost || error instanceof StoreUnavailableError) this.counts.unknown++;
      else throw error;
      return undefined;
    }
  }

  #command(server: SimulatedServer, operation: number): Command {
    const { random } = this.#options.world;
    const key = random.pick(keys);
    const color = random.pick(colors);
    const revision = server.store.get(key)?.revision;
    const body = bodyOf(operation, color);
    const owners = [{ uid: color, controller: true, blockOwnerDeletion: false }];
    const index = { apiVersion: "v1", uid: `${operation}`, labels: { color }, fields: undefined, owners };
    const guess = toRevision(Math.max(1, this.#seen - random.below(3)));
    const guarded = { kind: "revision", revision: revision ?? guess } as const;
    const draw = random.below(100);
    if (draw < 35) return { key, expect: { kind: "absent" }, operation: { kind: "put", index, body } };
    if (draw < 65) return { key, expect: guarded, operation: { kind: "put", index, body } };
    if (draw < 75) return { key, expect: { kind: "any" }, operation: { kind: "put", index, body } };
    const expect = draw < 90 ? guarded : ({ kind: "any" } as const);
    return { key, expect, operation: { kind: "delete", last: body } };
  }

  async #compact(server: SimulatedServer): Promise<void> {
    const { random } = this.#options.world;
    const { compactedRevision, revision } = server.store;
    const target = toRevision(random.between(compactedRevision, revision));
    await server.call(() => server.store.compact(target));
    const { compactedRevision: reached } = server.store;
    must(reached >= target, () => `history up to ${target} is compacted, and goes back to ${reached}`);
  }

  /** Checks for a number that no member had before. */
  async #decideMember(server: SimulatedServer): Promise<void> {
    const name = `replica-${this.#options.nextOperation()}`;
    const member = { id: 0, name, peerAddress: `${name}:1`, clientUrl: `https://${name}:2` };
    const record = await server.call(() => server.replica.proposer.decide({ kind: "member", member }));
    const { members } = this.#options.knowledge;
    must(record?.name === name, () => `member ${name} is given the record of ${record?.name}`);
    must(!members.has(record.id), () => `member ${name} is given the number ${record.id}, which another one has`);
    members.add(record.id);
  }

  #see(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
  }

  /** Counts a rejection that is always allowed. Any other error is a violation. */
  #countRefusal(error: unknown): void {
    if (error instanceof DamageNoticed) this.counts.damagedReads++;
    if (error instanceof ConnectionLost || error instanceof StoreUnavailableError) this.counts.refusedReads++;
    else if (error instanceof StatusError && error.status.code === 504) this.counts.refusedReads++;
    else if (error instanceof StatusError && error.status.code === 410) this.counts.expired++;
    else if (error instanceof CompactedError) this.counts.expired++;
    else throw error;
  }
}

const listDefaults = {
  labels: everyLabel,
  fields: everyField,
  resourceVersion: undefined,
  match: "",
  limit: 0,
  continue: "",
  timeoutSeconds: 0,
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
} as const;
