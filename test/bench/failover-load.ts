import { collection, document, randomFrom } from "./documents.ts";
import { FollowedWatch, writerName } from "./followed-watch.ts";
import { NoAnswerError, RoamingClient } from "./roaming-client.ts";

/** Average pauses. Their lengths vary, so that writers do not write at the same moment. */
const writePauseMs = 50;
const readPauseMs = 25;
/** Time without an acknowledged write that counts as an outage. A busy machine causes shorter ones by itself. */
const outageMsMin = 100;
const catchUpMs = 15_000;
const pollMs = 5;

export interface LoadOptions {
  readonly endpoints: readonly string[];
  readonly token: string;
  readonly writers: number;
  readonly readers: number;
  readonly watchers: number;
  /** Whether each watcher follows one writer, not all of them. */
  readonly watchersFollowOne?: boolean;
}

/** The observations of the clients in a period. */
export interface Observed {
  /** The slowest write of each writer, from its first attempt until it is known to be done. */
  readonly slowestWritesMs: readonly number[];
  /** The same for writers that were not connected to the failed member; empty if all share one endpoint. */
  readonly elsewhereMs: readonly number[];
  readonly slowestReadMs: number;
  /** The longest time without any acknowledged write. */
  readonly longestOutageMs: number;
  /** The total of all such times, without the usual pauses. */
  readonly outageMs: number;
}

export interface Totals {
  readonly writes: number;
  /** Writes that got no answer or one that left their outcome unknown. */
  readonly unknownWrites: number;
  readonly reads: number;
  /** Answers to reads that were neither the object nor a request to retry later. */
  readonly failedReads: number;
  /** Answers that asked the client to retry later. */
  readonly deferred: number;
  /** Reads that lacked a write acknowledged before they began. */
  readonly staleReads: number;
  readonly lostWrites: number;
  readonly events: number;
  readonly misplacedEvents: number;
  readonly missingEvents: number;
  readonly relists: number;
  /** Unexpected answers, by code. */
  readonly codes: ReadonlyMap<string, number>;
}

interface Writer {
  readonly number: number;
  readonly client: RoamingClient;
  readonly path: string;
  acknowledged: number;
  resourceVersion: string;
  slowestMs: number;
  /** The endpoint at the beginning of the period. */
  endpoint: string;
}

/**
 * Writers, readers and watchers that behave like client-go. Each has its own connection, moves to another member when
 * that breaks, waits when asked to, and never repeats a write before checking its outcome. Each writer counts up in an
 * object of its own, so that every reader and watcher notices a missing write.
 */
export class FailoverLoad implements Disposable {
  readonly #options: LoadOptions;
  readonly #writers: Writer[];
  readonly #readers: RoamingClient[];
  readonly #watches: FollowedWatch[] = [];
  readonly #codes = new Map<string, number>();
  #running: Promise<unknown>[] = [];
  #isStopping = false;
  #counts = { writes: 0, unknownWrites: 0, reads: 0, failedReads: 0, deferred: 0, staleReads: 0 };
  #acknowledgedMs = 0;
  #longestOutageMs = 0;
  #outageMs = 0;
  #slowestReadMs = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    const client = (at: number) => new RoamingClient({ ...options, at });
    this.#writers = Array.from({ length: options.writers }, (_, number) => ({
      number,
      client: client(number),
      path: `${collection}/${writerName(number)}`,
      acknowledged: 0,
      resourceVersion: "",
      slowestMs: 0,
      endpoint: "",
    }));
    this.#readers = Array.from({ length: options.readers }, (_, number) => client(number));
  }

  async start(): Promise<void> {
    const created = await Promise.all(this.#writers.map((writer) => this.#create(writer)));
    const from = String(Math.max(...created));
    const { watchers, writers, watchersFollowOne = false } = this.#options;
    for (let number = 0; number < watchers; number++) {
      const writer = watchersFollowOne ? number % writers : undefined;
      this.#watches.push(new FollowedWatch({ ...this.#options, at: number, from, writer }));
    }
    this.begin();
    this.#running = [
      ...this.#writers.map((writer) => this.#write(writer)),
      ...this.#readers.map((client, number) => this.#read(client, randomFrom(number + 1))),
    ];
  }

  /** Returns all clients to their first endpoints. */
  goHome(): void {
    for (const { client } of this.#writers) client.goHome();
    for (const client of this.#readers) client.goHome();
  }

  /** Begins a period for `observed`. */
  begin(): void {
    this.#acknowledgedMs = performance.now();
    this.#longestOutageMs = this.#outageMs = this.#slowestReadMs = 0;
    for (const writer of this.#writers) {
      writer.slowestMs = 0;
      writer.endpoint = writer.client.endpoint;
    }
  }

  /** @param failed the endpoint of the failed member */
  observed(failed: string | undefined): Observed {
    const hasChoice = this.#options.endpoints.length > 1;
    const elsewhere = this.#writers.filter(({ endpoint }) => hasChoice && endpoint !== failed);
    return {
      slowestWritesMs: this.#writers.map(({ slowestMs }) => slowestMs),
      elsewhereMs: elsewhere.map(({ slowestMs }) => slowestMs),
      slowestReadMs: this.#slowestReadMs,
      longestOutageMs: this.#longestOutageMs,
      outageMs: this.#outageMs,
    };
  }

  /** Resolves when a write that began after the call is acknowledged, and all watchers have seen it. */
  async everybodySees(): Promise<void> {
    const before = this.#acknowledgedCounts();
    // The first acknowledged write may have begun earlier.
    while (this.#writers.every(({ acknowledged, number }) => acknowledged < (before[number] ?? 0) + 2)) {
      await Bun.sleep(pollMs);
    }
    await this.#watchersSee(this.#acknowledgedCounts());
  }

  /** Ends the load, compares the observations of all clients, and cleans up. */
  async finish(): Promise<Totals> {
    this.#isStopping = true;
    await Promise.all(this.#running);
    const expected = this.#acknowledgedCounts();
    await this.#watchersSee(expected);
    let lostWrites = 0;
    for (const { path, client, acknowledged } of this.#writers) {
      if (sequenceOf((await client.read(path)).body) !== acknowledged) lostWrites++;
    }
    for (const watch of this.#watches) watch[Symbol.dispose]();
    await Promise.all(this.#writers.map(({ client, path }) => client.request("DELETE", path)));
    const sum = (of: (watch: FollowedWatch) => number) => this.#watches.reduce((total, watch) => total + of(watch), 0);
    return {
      ...this.#counts,
      lostWrites,
      events: sum((watch) => watch.events),
      misplacedEvents: sum((watch) => watch.misplaced),
      missingEvents: sum((watch) => watch.missing(expected)),
      relists: sum((watch) => watch.expired),
      codes: this.#codes,
    };
  }

  [Symbol.dispose](): void {
    this.#isStopping = true;
    for (const watch of this.#watches) watch[Symbol.dispose]();
    for (const { client } of this.#writers) client[Symbol.dispose]();
    for (const client of this.#readers) client[Symbol.dispose]();
  }

  #acknowledgedCounts(): number[] {
    return this.#writers.map(({ acknowledged }) => acknowledged);
  }

  async #watchersSee(counts: readonly number[]): Promise<void> {
    const untilMs = performance.now() + catchUpMs;
    while (this.#watches.some((watch) => !watch.hasSeen(counts)) && performance.now() < untilMs)
      await Bun.sleep(pollMs);
  }

  async #create(writer: Writer): Promise<number> {
    const answer = await writer.client.request("POST", collection, bodyOf(writer, 0));
    if (answer.code !== 201) throw new Error(`POST ${collection}: ${answer.code} ${answer.body.toString()}`);
    writer.resourceVersion = versionOf(answer.body);
    return Number(writer.resourceVersion);
  }

  async #write(writer: Writer): Promise<void> {
    const random = randomFrom(-writer.number - 1);
    while (!this.#isStopping) {
      const begunMs = performance.now();
      await this.#put(writer, writer.acknowledged + 1);
      writer.acknowledged++;
      const nowMs = performance.now();
      writer.slowestMs = Math.max(writer.slowestMs, nowMs - begunMs);
      this.#acknowledged(nowMs);
      await Bun.sleep(2 * random() * writePauseMs);
    }
  }

  #acknowledged(nowMs: number): void {
    const gapMs = nowMs - this.#acknowledgedMs;
    this.#acknowledgedMs = nowMs;
    this.#counts.writes++;
    this.#longestOutageMs = Math.max(this.#longestOutageMs, gapMs);
    if (gapMs > outageMsMin) this.#outageMs += gapMs;
  }

  async #put(writer: Writer, sequence: number): Promise<void> {
    for (;;) {
      const answer = await asked(writer.client.request("PUT", writer.path, bodyOf(writer, sequence)));
      if (answer?.code === 200) {
        writer.resourceVersion = versionOf(answer.body);
        return;
      }
      if (answer !== undefined) this.#count("PUT", answer.code);
      if (answer?.retryAfter !== undefined) {
        this.#counts.deferred++;
        await Bun.sleep(1_000 * answer.retryAfter);
        continue;
      }
      this.#counts.unknownWrites++;
      const there = await this.#get(writer.client, writer.path);
      writer.resourceVersion = versionOf(there);
      if (sequenceOf(there) === sequence) return;
    }
  }

  async #read(client: RoamingClient, random: () => number): Promise<void> {
    while (!this.#isStopping) {
      const writer = this.#writers[Math.floor(random() * this.#writers.length)] as Writer;
      const { acknowledged } = writer;
      const begunMs = performance.now();
      const body = await this.#get(client, writer.path);
      this.#slowestReadMs = Math.max(this.#slowestReadMs, performance.now() - begunMs);
      this.#counts.reads++;
      if (sequenceOf(body) < acknowledged) this.#counts.staleReads++;
      await Bun.sleep(2 * random() * readPauseMs);
    }
  }

  async #get(client: RoamingClient, path: string): Promise<Buffer> {
    for (;;) {
      const answer = await client.read(path);
      if (answer.code === 200) return answer.body;
      this.#count("GET", answer.code);
      if (answer.retryAfter === undefined) this.#counts.failedReads++;
      else this.#counts.deferred++;
      await Bun.sleep(1_000 * (answer.retryAfter ?? 0.1));
    }
  }

  #count(method: string, code: number): void {
    const key = `${method} ${code}`;
    this.#codes.set(key, (this.#codes.get(key) ?? 0) + 1);
  }
}

/** Undefined if there was no answer. */
async function asked<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof NoAnswerError) return undefined;
    throw error;
  }
}

function bodyOf({ number, resourceVersion }: Writer, sequence: number): string {
  const object = document(number) as unknown as { metadata: object; data: object };
  const version = resourceVersion === "" ? {} : { resourceVersion };
  const metadata = { ...object.metadata, name: writerName(number), ...version };
  return JSON.stringify({ ...object, metadata, data: { ...object.data, sequence: String(sequence) } });
}

function versionOf(body: Buffer): string {
  return /"resourceVersion":"(\d+)"/.exec(body.toString("latin1"))?.[1] ?? "";
}

function sequenceOf(body: Buffer): number {
  return Number(/"sequence":"(\d+)"/.exec(body.toString("latin1"))?.[1] ?? Number.NaN);
}
