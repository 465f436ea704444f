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
import { load } from "./load.ts";
import { type MemberOptions, measuredProcess, report } from "./measured-process.ts";
import { slowDisk } from "./slow-disk.ts";

/** Applies nothing and only tracks the position in the log, because the log is what is measured. */
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
  measuredProcess(async (order) => {
    if (order.order === "peers") addresses.push(...order.ports.map((port) => ({ host: "127.0.0.1", port })));
    if (order.order === "load") report({ report: "load", ...(await load((payload) => node.propose(payload), order)) });
    return node.status().role === "leader";
  });
  report({ report: "listening", port: transport.address.port });
}

await main(JSON.parse(Bun.argv[2] ?? "{}") as MemberOptions);
