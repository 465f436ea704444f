import { join } from "node:path";
import { readCertificates } from "../example/certificates.ts";
import {
  type Address,
  type Entry,
  foundedBy,
  type Index,
  membershipOf,
  RaftNode,
  type StateImage,
  type StateMachine,
  TlsTransport,
  toMemberId,
} from "../index.ts";
import { createLogOn, openLogOn } from "../storage/open-log.ts";
import { openSystemDisk } from "../storage/system-disk.ts";
import { slowDisk } from "./slow-disk.ts";

/** One member as a process of its own, told over IPC what to do. */
export interface MemberOptions {
  readonly id: number;
  readonly members: number;
  readonly directory: string;
  readonly addedSyncMs: number;
}

export type Order =
  | { readonly order: "peers"; readonly ports: readonly number[] }
  | { readonly order: "load"; readonly concurrency: number; readonly seconds: number; readonly bytes: number }
  | { readonly order: "status" };

export type Report =
  | { readonly report: "listening"; readonly port: number }
  | { readonly report: "status"; readonly leads: boolean; readonly cpuMs: number; readonly rssBytes: number }
  | {
      readonly report: "load";
      readonly entries: number;
      readonly seconds: number;
      readonly latenciesMs: readonly number[];
    };

/** Applies nothing, and is nothing but a place in the log: what is measured is the log. */
class NothingState implements StateMachine<undefined> {
  #applied = 0;

  durableIndex(): Index {
    return this.#applied as Index;
  }

  apply(entries: readonly Entry[]): undefined[] {
    this.#applied = entries.at(-1)?.index ?? this.#applied;
    return [];
  }

  checkpoint(): Index {
    return this.#applied as Index;
  }

  snapshot(): StateImage {
    return { index: this.#applied as Index, chunks: nothing(), release: () => {} };
  }

  async restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const _ of chunks);
    this.#applied = index;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function main({ id, members, directory, addedSyncMs }: MemberOptions): Promise<void> {
  const owner = { clusterId: "bench", memberId: toMemberId(id) };
  const ids = Array.from({ length: members }, (_, position) => toMemberId(position + 1));
  const addresses: Address[] = [];
  const disk = slowDisk(openSystemDisk(join(directory, `member-${id}`)), addedSyncMs);
  await createLogOn(disk, owner, foundedBy(membershipOf(ids)));
  const { log, starts } = await openLogOn(disk, owner);
  const transport = new TlsTransport({
    ...owner,
    starts,
    listen: { host: "127.0.0.1", port: 0 },
    addressOf: (member) => addresses[member - 1],
    tls: () => readCertificates(directory, id),
  });
  const stateMachine = new NothingState();
  const node = await RaftNode.start({ id: owner.memberId, log, transport, stateMachine, tailEntries: 2000 });
  process.on("message", async (order: Order) => {
    if (order.order === "peers") addresses.push(...order.ports.map((port) => ({ host: "127.0.0.1", port })));
    if (order.order === "status") report(statusOf(node));
    if (order.order === "load") report(await load(node, order.concurrency, order.seconds, order.bytes));
  });
  // Whoever measures is gone.
  process.on("disconnect", () => process.exit());
  report({ report: "listening", port: transport.address.port });
}

function report(what: Report): void {
  process.send?.(what);
}

function statusOf(node: RaftNode<undefined>): Report {
  const { user, system } = process.cpuUsage();
  const leads = node.status().role === "leader";
  return { report: "status", leads, cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() };
}

/** So many proposers, each waiting for its own entry before the next one. */
async function load(node: RaftNode<undefined>, concurrency: number, seconds: number, bytes: number): Promise<Report> {
  const latenciesMs: number[] = [];
  const begunMs = performance.now();
  const endMs = begunMs + 1000 * seconds;
  const payloads = Array.from({ length: 64 }, () => crypto.getRandomValues(new Uint8Array(bytes)));
  const proposer = async () => {
    for (let now = performance.now(); now < endMs; ) {
      await node.propose(payloads[latenciesMs.length % payloads.length] ?? new Uint8Array());
      const done = performance.now();
      latenciesMs.push(done - now);
      now = done;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, proposer));
  const sorted = latenciesMs.sort((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const taken = (performance.now() - begunMs) / 1000;
  return { report: "load", entries: sorted.length, seconds: taken, latenciesMs: [at(0.5), at(0.99), at(1)] };
}

await main(JSON.parse(Bun.argv[2] ?? "{}") as MemberOptions);
