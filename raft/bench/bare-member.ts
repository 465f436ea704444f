import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { DiskFile } from "../storage/disk.ts";
import { openSystemDisk } from "../storage/system-disk.ts";
import { load } from "./load.ts";
import { type MemberOptions, measuredProcess, type Order, report } from "./measured-process.ts";
import { slowDisk } from "./slow-disk.ts";

/**
 * The minimum of work that replicates entries to a majority: write, sync, report. It has no terms, checks, encryption or
 * recovery, and the first member always leads. Compare raft's results with it, on the same machine in the same minute.
 */
const fileBytes = 64 << 20;
const headerBytes = 8;

/** One file, written as a ring. Entries that wait during a sync share the next one. */
class BareLog {
  readonly #file: DiskFile;
  readonly #synced: (entries: number) => void;
  #waiting: Uint8Array[] = [];
  #entries = 0;
  #position = 0;
  #busy = false;

  constructor(file: DiskFile, synced: (entries: number) => void) {
    this.#file = file;
    this.#synced = synced;
  }

  append(bytes: Uint8Array, entries: number): void {
    this.#waiting.push(bytes);
    this.#entries += entries;
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const bytes = Buffer.concat(this.#waiting);
      const entries = this.#entries;
      this.#waiting = [];
      this.#entries = 0;
      if (this.#position + bytes.length > fileBytes) this.#position = 0;
      await this.#file.write(bytes, this.#position);
      this.#position += bytes.length;
      await this.#file.sync();
      this.#synced(entries);
    }
    this.#busy = false;
  }
}

/** Calls `handle` for each message `[entries u32][bytes u32][…]`, with the bytes without their header. */
function onMessages(socket: Socket, handle: (entries: number, bytes: Uint8Array) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= headerBytes) {
      const end = headerBytes + rest.readUInt32LE(4);
      if (rest.length < end) break;
      handle(rest.readUInt32LE(0), rest.subarray(headerBytes, end));
      rest = rest.subarray(end);
    }
  });
}

function message(entries: number, payloads: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(entries, 0);
  header.writeUInt32LE(
    payloads.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  return Buffer.concat([header, ...payloads]);
}

/** Sends each entry to all members, and learns when a majority has it. */
class Leader {
  readonly #log: BareLog;
  readonly #peers: Socket[] = [];
  /** Entries on the disk of each member, the leader's first. */
  readonly #synced: number[];
  #payloads: Uint8Array[] = [];
  #waiting: (() => void)[] = [];
  #committed = 0;

  constructor(file: DiskFile, members: number) {
    this.#synced = Array.from({ length: members }, () => 0);
    this.#log = new BareLog(file, (entries) => this.#acknowledge(0, entries));
  }

  follow(ports: readonly number[]): void {
    for (const [position, port] of ports.entries()) {
      if (position === 0) continue;
      const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
      onMessages(socket, (entries) => this.#acknowledge(position, entries));
      this.#peers.push(socket);
    }
  }

  propose(payload: Uint8Array): Promise<void> {
    if (this.#payloads.length === 0) queueMicrotask(() => this.#send());
    this.#payloads.push(payload);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #send(): void {
    const bytes = message(this.#payloads.length, this.#payloads);
    for (const peer of this.#peers) peer.write(bytes);
    this.#log.append(bytes, this.#payloads.length);
    this.#payloads = [];
  }

  #acknowledge(position: number, entries: number): void {
    this.#synced[position] = (this.#synced[position] ?? 0) + entries;
    const ordered = this.#synced.toSorted((left, right) => right - left);
    const committed = ordered[ordered.length >> 1] ?? 0;
    for (const resolve of this.#waiting.splice(0, committed - this.#committed)) resolve();
    this.#committed = committed;
  }
}

async function main({ id, members, directory, addedSyncMs }: MemberOptions): Promise<void> {
  const disk = slowDisk(openSystemDisk(join(directory, `bare-${id}`)), addedSyncMs);
  const file = disk.open("log", "create");
  for (let position = 0; position < fileBytes; position += 1 << 20) await file.write(new Uint8Array(1 << 20), position);
  await file.sync();
  const leader = id === 1 ? new Leader(file, members) : undefined;
  const server = createServer({ noDelay: true }, (socket) => {
    const log = new BareLog(file, (entries) => socket.write(message(entries, [])));
    onMessages(socket, (entries, bytes) => log.append(bytes, entries));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  measuredProcess(async (order: Order) => {
    if (order.order === "peers") leader?.follow(order.ports);
    if (order.order === "load" && leader !== undefined)
      report({ report: "load", ...(await load((payload) => leader.propose(payload), order)) });
    return leader !== undefined;
  });
  report({ report: "listening", port: (server.address() as { port: number }).port });
}

await main(JSON.parse(Bun.argv[2] ?? "{}") as MemberOptions);
