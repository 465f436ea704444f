import assert from "node:assert/strict";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import { noCrash, type ReachCrashPoint } from "../crash-point.ts";
import type { Disk, DiskFile } from "./disk.ts";
import type { Log, LogContents, LogWrite } from "./log.ts";
import { LogError } from "./log-error.ts";
import { encodeRecord, type LogRecord, recordBytes } from "./record.ts";
import type { Recovered } from "./recovery.ts";
import { encodeSegmentHeader, segmentHeaderBytes, segmentName, segmentSalt } from "./segment.ts";
import { SegmentSupply } from "./segment-supply.ts";
import type { Tail, TailWitness } from "./tail-witness.ts";

/**
 * Size of the first segment. Segments start small, so that a new cluster starts at once, and double up to
 * `segmentBytes`.
 */
export const firstSegmentBytes = 1 << 20;
const defaultSegmentBytes = 32 << 20;
/** Bytes of waiting writes that share one sync. */
const groupBytesMax = 8 << 20;

export interface FileLogTuning {
  readonly segmentBytes?: number;
  readonly reach?: ReachCrashPoint;
  /** Receives the duration of each sync. */
  readonly synced?: (ms: number) => void;
}

interface Waiting {
  readonly records: readonly LogRecord[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Segment {
  readonly sequence: number;
  lastIndex: number;
}

export interface OpenedParts {
  readonly disk: Disk;
  readonly logId: string;
  readonly recovered: Recovered;
  readonly active: DiskFile;
  readonly witness: TailWitness;
  /** Releases the directory. */
  readonly release: () => Promise<void>;
}

/**
 * The log in files. One write at a time is on its way to the disk, and writes that arrive meanwhile form the next group.
 * Each write is synced before the next one begins, so only the very last one on disk can be torn.
 */
export class FileLog implements Log {
  #recovered: LogContents | undefined;
  readonly #disk: Disk;
  readonly #logId: string;
  readonly #witness: TailWitness;
  readonly #release: () => Promise<void>;
  readonly #supply: SegmentSupply;
  readonly #reach: ReachCrashPoint;
  readonly #segmentBytes: number;
  readonly #tuning: FileLogTuning;
  /** Segments, oldest first. The last one is `#active`. */
  readonly #segments: Segment[];
  #active: DiskFile;
  #activeBytes: number;
  #next: Promise<DiskFile> | undefined;
  #tail: Tail;
  /** The newest segment that durably begins with the state that a reader needs. Earlier ones may be removed. */
  #durableSegment: number;
  #chain: number;
  #hardState: HardState;
  #base: SnapshotMeta;
  #expected: SnapshotMeta | undefined;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: LogError | undefined;
  #buffer = Buffer.alloc(0);
  #noting: ReturnType<typeof setImmediate> | undefined;

  constructor(parts: OpenedParts, tuning: FileLogTuning = {}) {
    const { contents, used, tail, chain } = parts.recovered;
    this.#recovered = contents;
    this.#disk = parts.disk;
    this.#logId = parts.logId;
    this.#witness = parts.witness;
    this.#release = parts.release;
    this.#reach = tuning.reach ?? noCrash;
    this.#tuning = tuning;
    this.#supply = new SegmentSupply(parts.disk, this.#reach);
    this.#segmentBytes = tuning.segmentBytes ?? defaultSegmentBytes;
    this.#segments = used.map((segment) => ({ ...segment }));
    this.#active = parts.active;
    this.#activeBytes = parts.active.size();
    this.#tail = tail;
    this.#durableSegment = tail.segment;
    this.#chain = chain;
    this.#hardState = contents.hardState;
    this.#base = contents.base;
    this.#expected = contents.expected;
  }

  get recovered(): LogContents {
    assert(this.#recovered !== undefined, "the first write has released what was recovered");
    return this.#recovered;
  }

  append({ expected, snapshot, hardState, entries }: LogWrite): Promise<void> {
    const records: LogRecord[] = [];
    if (expected !== undefined) records.push({ kind: "expected", expected });
    if (snapshot !== undefined) records.push({ kind: "base", base: snapshot, clearsLog: true });
    if (hardState !== undefined) records.push({ kind: "hardState", hardState });
    for (const entry of entries) records.push({ kind: "entry", entry });
    return this.#enqueue(records);
  }

  async compact(base: SnapshotMeta): Promise<void> {
    await this.#enqueue([{ kind: "base", base, clearsLog: false }]);
    this.#reach("compactionBeforeRemoval");
    await this.#guarded(() => this.#removeSegments(base));
    this.#reach("compactionAfterRemoval");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#flushing;
    if (this.#noting !== undefined) this.#note();
    this.#failure ??= new LogError("poisoned", "the log is closed", "open it again", this.#details());
    await this.#next?.then((file) => file.close()).catch(() => {});
    this.#active.close();
    await this.#witness.close().catch(() => {});
    await this.#release();
  }

  #enqueue(records: readonly LogRecord[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (records.length === 0) return this.#flushing ?? Promise.resolve();
    this.#recovered = undefined;
    const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, bytes, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#guarded(() => this.#writeGroup(group));
      } catch (error) {
        for (const { reject } of [...group, ...this.#waiting]) reject(error as Error);
        this.#waiting = [];
        break;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }

  /** Takes the first waiting write, and as many more as fit. */
  #takeGroup(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { bytes: more } of this.#waiting) {
      if (count > 0 && bytes + more > groupBytesMax) break;
      bytes += more;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /**
   * Runs disk work. After a failure, this handle promises nothing more: the kernel forgets which pages a failed sync left
   * unwritten, so the next sync would succeed without effect.
   */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (cause) {
      const problem = `writing failed (${(cause as Error).message}); what is on disk is unknown`;
      const advice = "nothing more is written by this process: repair the cause and start the member again";
      this.#failure ??= new LogError("poisoned", problem, advice, this.#details(cause));
      throw this.#failure;
    }
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const records = group.flatMap((waiting) => waiting.records);
    const bytes = group.reduce((sum, waiting) => sum + waiting.bytes, 0);
    if (this.#tail.end + bytes > this.#activeBytes) await this.#roll(records, bytes);
    else await this.#write(records, bytes, this.#tail.end);
    this.#next ??= this.#prepare();
  }

  /** Begins the next segment with the state that a reader needs when the earlier ones are gone. */
  async #roll(records: readonly LogRecord[], bytes: number): Promise<void> {
    const lead: LogRecord[] = [
      { kind: "base", base: this.#base, clearsLog: false },
      { kind: "hardState", hardState: this.#hardState },
      ...(this.#expected === undefined ? [] : [{ kind: "expected" as const, expected: this.#expected }]),
    ];
    const all = [...lead, ...records];
    const total = lead.reduce((sum, record) => sum + recordBytes(record), bytes);
    const file = await this.#nextSegment(segmentHeaderBytes + total);
    this.#reach("segmentBeforeRoll");
    this.#active.close();
    this.#active = file;
    this.#activeBytes = file.size();
    const sequence = this.#tail.segment + 1;
    const header = { sequence, chain: this.#chain, write: this.#tail.write, previousEnd: this.#tail.end };
    this.#segments.push({ sequence, lastIndex: 0 });
    this.#tail = { ...this.#tail, segment: sequence, end: segmentHeaderBytes };
    encodeSegmentHeader(header, segmentSalt(this.#logId, sequence), this.#room(segmentHeaderBytes + total));
    await this.#write(all, total, segmentHeaderBytes, segmentHeaderBytes);
  }

  /** Returns the prepared segment if it succeeded and is large enough. Otherwise makes one while the write waits. */
  async #nextSegment(bytes: number): Promise<DiskFile> {
    const prepared = await this.#next?.catch(() => undefined);
    this.#next = undefined;
    if (prepared !== undefined && prepared.size() >= bytes) return prepared;
    prepared?.close();
    return this.#supply.provide(this.#tail.segment + 1, Math.max(bytes, this.#wantedBytes()));
  }

  #prepare(): Promise<DiskFile> {
    const next = this.#supply.provide(this.#tail.segment + 1, this.#wantedBytes());
    // It is tried again when the segment is needed. Only then does a failure count.
    next.catch(() => {});
    return next;
  }

  #wantedBytes(): number {
    return Math.min(this.#segmentBytes, 2 * this.#activeBytes);
  }

  /** @param headerBytes bytes at the front of the buffer, written with the records */
  async #write(records: readonly LogRecord[], bytes: number, end: number, headerBytes = 0): Promise<void> {
    const buffer = this.#room(headerBytes + bytes);
    const write = this.#tail.write + 1;
    const chain = this.#encode(records, write, buffer, headerBytes);
    this.#reach("logBeforeWrite");
    await this.#active.write(buffer.subarray(0, headerBytes + bytes), end - headerBytes);
    this.#reach("logBeforeSync");
    await this.#sync();
    this.#chain = chain;
    this.#tail = { write, segment: this.#tail.segment, end: end + bytes };
    this.#durableSegment = this.#tail.segment;
    for (const record of records) this.#remember(record);
    this.#noting ??= setImmediate(() => this.#note());
    this.#reach("logAfterSync");
  }

  #sync(): Promise<void> {
    const { synced } = this.#tuning;
    if (synced === undefined) return this.#active.sync();
    const begunMs = performance.now();
    return this.#active.sync().then(() => synced(performance.now() - begunMs));
  }

  /** Notes the tail after the callers that waited for the write have continued, because they are more urgent. */
  #note(): void {
    clearImmediate(this.#noting);
    this.#noting = undefined;
    this.#witness.note(this.#tail);
  }

  /** Encodes the records and returns the checksum of the last one, which the next write continues. */
  #encode(records: readonly LogRecord[], write: number, buffer: Buffer, from: number): number {
    const { segment } = this.#tail;
    const salt = segmentSalt(this.#logId, segment);
    let chain = this.#chain;
    let offset = from;
    records.forEach((record, position) => {
      const lastOfWrite = position === records.length - 1;
      chain = encodeRecord(record, { segment, salt, write, chain, lastOfWrite }, buffer, offset);
      offset += recordBytes(record);
    });
    return chain;
  }

  /** Takes over the state of a durable record. */
  #remember(record: LogRecord): void {
    switch (record.kind) {
      case "hardState":
        this.#hardState = record.hardState;
        return;
      case "base":
        this.#base = record.base;
        if (record.clearsLog) for (const segment of this.#segments) segment.lastIndex = 0;
        return;
      case "expected":
        this.#expected = record.expected;
        return;
      case "entry": {
        const active = this.#segments.at(-1);
        assert(active !== undefined);
        active.lastIndex = Math.max(active.lastIndex, record.entry.index);
      }
    }
  }

  /** Removes segments from the oldest on, so that a crash leaves no gap. */
  async #removeSegments(base: SnapshotMeta): Promise<void> {
    const firstKept = this.#segments.findIndex(
      ({ sequence, lastIndex }) => lastIndex > base.index || sequence >= this.#durableSegment,
    );
    for (const { sequence } of this.#segments.splice(0, Math.max(0, firstKept))) {
      this.#supply.recycle(sequence);
      await this.#disk.syncDirectory();
    }
  }

  /** Returns the buffer that all writes share. It grows to the largest write. */
  #room(bytes: number): Buffer {
    if (this.#buffer.length < bytes) this.#buffer = Buffer.alloc(Math.max(bytes, 2 * this.#buffer.length));
    return this.#buffer;
  }

  #details(cause?: unknown) {
    return { directory: this.#disk.directory, file: segmentName(this.#tail.segment), offset: this.#tail.end, cause };
  }
}
