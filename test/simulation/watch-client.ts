import { must } from "../../raft/testing/simulator/violation.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import { toRevision } from "../../src/api/revision.ts";
import { waitForVersion } from "../../src/http/handlers/freshness.ts";
import type { ByteSink } from "../../src/request/exchange.ts";
import type { Knowledge } from "./knowledge.ts";
import { type Color, isColor, lines, linesOf } from "./simulated-object.ts";
import { ConnectionLost, type SimulatedServer } from "./simulated-server.ts";
import type { Change, Truth } from "./truth.ts";

const deadlineMsMin = 2_500;
/** Maximum durations of watches. A watch gets its last bookmark before it ends, so short ones get more of them. */
const deadlinesMsMax = [10_000, 90_000];
const stallMsMax = 3_000;
/** Number of resumes per 1000 that begin further back. */
const rewindPermille = 200;

export interface WatchScope {
  /** The name of the resource. */
  readonly resource: string;
  /** The prefix of the resource, or of a namespace in it. */
  readonly prefix: string;
  readonly color: Color | undefined;
}

export interface WatchClientOptions {
  readonly world: World;
  readonly truth: Truth;
  readonly knowledge: Knowledge;
  readonly scope: WatchScope;
  /** Number of chunks per 1000 after which the client stops reading for a while. */
  readonly stalls: number;
  /** Whether it resumes one event too late. */
  readonly skips: boolean;
}

interface Connection {
  readonly server: SimulatedServer;
  readonly sink: ClientSink;
}

/**
 * A client that follows a part of the state on one server, and then resumes on another, now and then from long ago. It
 * must receive every change in its scope since then, in order, once: see `#receive`.
 */
export class WatchClient {
  readonly #options: WatchClientOptions;
  #connection: Connection | undefined;
  /** Everything in scope up to this revision has arrived; undefined before the first list. */
  #last: number | undefined;
  /** Keys of the initial state that the watch has not sent yet, in order. */
  #initial: string[] | undefined;
  resumes = 0;
  rewinds = 0;
  bookmarks = 0;
  lists = 0;
  events = 0;
  expired = 0;
  /** Number of watches that a damaged record ended. */
  damagedReads = 0;

  constructor(options: WatchClientOptions) {
    this.#options = options;
  }

  /** The revision from which it would resume. */
  get last(): number {
    return this.#last ?? 0;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  isOn(replicas: readonly SimulatedServer[]): boolean {
    return this.#connection !== undefined && replicas.includes(this.#connection.server);
  }

  /** Whether it has received everything that has happened. */
  get isUpToDate(): boolean {
    if (this.#connection === undefined || this.#last === undefined || this.#initial !== undefined) return false;
    return this.#nextVisible(this.#last) === undefined;
  }

  disconnect(): void {
    this.#connection?.sink.abort();
    this.#ended();
  }

  /** @throws Violation */
  async connect(server: SimulatedServer): Promise<void> {
    const { scope, skips, world } = this.#options;
    const connection = { server, sink: this.#newSink(server) };
    this.#connection = connection;
    const floor = this.#options.knowledge.revision;
    try {
      await server.call(async () => {
        const cacher = server.cachers.cacher(scope.resource);
        const { color, prefix } = scope;
        const isFirst = this.#last === undefined;
        if (isFirst) await waitForVersion(server.store, undefined);
        if (this.#connection !== connection) return;
        if (isFirst) this.#begin(server, floor);
        else this.#resume();
        const after = toRevision((this.#last ?? 0) + (skips && !isFirst ? 1 : 0));
        const watcher = cacher.watch({
          prefix,
          ...(color === undefined
            ? {}
            : { matches: isColor(color), pins: [{ facet: "label color", values: [color] }] }),
          start: isFirst ? { kind: "initial", endBookmark: true } : { kind: "after", revision: after },
          bookmarks: true,
          deadlineMs: server.clock.steadyMs() + world.random.between(deadlineMsMin, world.random.pick(deadlinesMsMax)),
          encoder: lines,
        });
        await watcher.run(connection.sink);
      });
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
    if (this.#connection === connection) this.#ended();
  }

  #newSink(server: SimulatedServer): ClientSink {
    const { random } = this.#options.world;
    return new ClientSink(
      (line) => this.#receive(line, server),
      (run) => {
        if (!random.chance(this.#options.stalls)) return false;
        server.clock.after(random.between(1, stallMsMax), run);
        return true;
      },
    );
  }

  /** Forgets a part of what has arrived, as a client does that starts again with an old file. */
  #resume(): void {
    this.resumes++;
    const { truth, world } = this.#options;
    const last = this.#last as number;
    if (last <= truth.compacted || !world.random.chance(rewindPermille)) return;
    this.#last = world.random.between(truth.compacted, last);
    this.rewinds++;
  }

  #begin(server: SimulatedServer, floor: number): void {
    const { truth, scope, knowledge } = this.#options;
    const { revision } = server.cachers;
    must(revision >= floor, () => `a watch begins with the state at ${revision} where ${floor} was known`);
    knowledge.learn(revision);
    const versions = truth.listAt(scope.prefix, revision);
    const visible = versions.filter(({ color }) => scope.color === undefined || color === scope.color);
    this.#initial = visible.map(({ key, revision: at, operation }) => `ADDED ${key} ${at} ${operation}`);
    this.#initial.push(`INITIAL ${revision}`);
    this.#last = revision;
    this.lists++;
  }

  /** Lists again if the initial state was interrupted. */
  #ended(): void {
    this.#connection = undefined;
    if (this.#initial !== undefined) this.#forget();
  }

  #forget(): void {
    this.#last = undefined;
    this.#initial = undefined;
  }

  #receive(line: string, server: SimulatedServer): void {
    if (this.#connection?.server !== server) return;
    if (this.#initial !== undefined) return this.#receiveInitial(line, this.#initial);
    const [type, key, revision] = line.split(" ");
    const last = this.#last as number;
    if (type === "ERROR" && server.replica.isDamaged && line.startsWith("ERROR 500 ")) {
      this.damagedReads++;
      return;
    }
    if (type === "ERROR") return this.#receiveError(line, last);
    const next = this.#nextVisible(last);
    if (type === "BOOKMARK") {
      const at = Number(key);
      must(at >= last, () => `a watch at ${last} gets the bookmark ${at}`);
      must(at <= server.store.revision, () => `bookmark ${at} is ahead of the store at ${server.store.revision}`);
      const missed = next !== undefined && next.revision <= at;
      must(!missed, () => `a watch of ${this.#name} at ${last} gets the bookmark ${at} before ${next?.line}`);
      this.#last = at;
      this.bookmarks++;
      return;
    }
    must(line === next?.line, () => `a watch of ${this.#name} at ${last} gets ${line} instead of ${next?.line}`);
    this.#last = Number(revision);
    this.events++;
  }

  #receiveInitial(line: string, expected: string[]): void {
    const first = expected.shift();
    must(line === first, () => `a watch of ${this.#name} begins with ${line} instead of ${first}`);
    if (expected.length === 0) this.#initial = undefined;
  }

  /** Only compacted history may be refused. */
  #receiveError(line: string, last: number): void {
    const { compacted } = this.#options.truth;
    must(line.startsWith("ERROR 410 "), () => `a watch ends with ${line}`);
    must(last < compacted, () => `a watch at ${last} is refused although history goes back to ${compacted}: ${line}`);
    this.expired++;
    this.#forget();
  }

  get #name(): string {
    const { prefix, color } = this.#options.scope;
    return color === undefined ? prefix : `${color} ${prefix}`;
  }

  #nextVisible(after: number): { readonly revision: number; readonly line: string } | undefined {
    const { truth, scope } = this.#options;
    for (let revision = after + 1; revision <= truth.revision; revision++) {
      const change = truth.changeAt(revision) as Change;
      const type = typeFor(change, scope);
      if (type === undefined) continue;
      const { version, previous } = change;
      // An object that leaves the scope is shown in its last state in it.
      const shown = type === "DELETED" && change.type !== "DELETED" ? previous : version;
      return { revision, line: `${type} ${version.key} ${revision} ${shown?.operation}` };
    }
    return undefined;
  }
}

function typeFor({ type, version, previous }: Change, { prefix, color }: WatchScope): Change["type"] | undefined {
  if (!version.key.startsWith(prefix)) return undefined;
  if (color === undefined) return type;
  const before = previous?.color === color;
  if (type === "DELETED") return before ? "DELETED" : undefined;
  if (version.color === color) return before ? "MODIFIED" : "ADDED";
  return before ? "DELETED" : undefined;
}

function isExpected(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  return error instanceof Error && error.name === "StoreUnavailableError";
}

/** The client's end of a watch, which stops reading now and then. */
class ClientSink implements ByteSink {
  readonly backlogBytes = 0;
  readonly #controller = new AbortController();
  readonly #receive: (line: string) => void;
  readonly #stall: (resume: () => void) => boolean;
  #drained: Promise<void> = Promise.resolve();

  /** @param stall returns whether to stall now, and calls back when that is over */
  constructor(receive: (line: string) => void, stall: (resume: () => void) => boolean) {
    this.#receive = receive;
    this.#stall = stall;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  write(chunk: Uint8Array): boolean {
    for (const line of linesOf(chunk)) this.#receive(line);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!this.#stall(resolve)) return true;
    this.#drained = promise;
    return false;
  }

  drained(): Promise<void> {
    return this.#drained;
  }

  abort(): void {
    this.#controller.abort();
  }
}
