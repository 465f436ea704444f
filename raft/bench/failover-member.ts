import { join } from "node:path";
import { readCertificates } from "../example/certificates.ts";
import { CounterState } from "../example/counter-state.ts";
import {
  createLog,
  foundedBy,
  logExists,
  membershipOf,
  openLog,
  RaftNode,
  TlsTransport,
  toMemberId,
} from "../index.ts";

/** Options of a member in its own process that writes continually and reports each write. */
export interface FailoverOptions {
  readonly id: number;
  readonly ports: readonly number[];
  readonly directory: string;
}

export interface FailoverReport {
  readonly wrote: boolean;
  readonly leads: boolean;
}

const retryMs = 2;

async function main({ id, ports, directory }: FailoverOptions): Promise<void> {
  const owner = { clusterId: "failover", memberId: toMemberId(id) };
  const own = join(directory, `member-${id}`);
  if (!logExists(own)) {
    await createLog(own, owner, foundedBy(membershipOf(ports.map((_, position) => toMemberId(position + 1)))));
  }
  const { log, starts } = await openLog(own, owner);
  const addressOf = (member: number) => ({ host: "127.0.0.1", port: ports[member - 1] ?? 0 });
  const tls = () => readCertificates(directory, id);
  const transport = new TlsTransport({ ...owner, starts, listen: addressOf(id), addressOf, tls });
  const node = await RaftNode.start({ id: owner.memberId, log, transport, stateMachine: new CounterState() });
  process.on("message", ({ transferTo }: { transferTo: number }) => {
    if (node.softState.role === "leader") node.transferLeadership(toMemberId(transferTo));
  });
  process.on("disconnect", () => process.exit());
  for (;;) {
    const wrote = await node.propose(Buffer.from("writes 1")).then(
      () => true,
      () => false,
    );
    if (process.connected) process.send?.({ wrote, leads: node.softState.role === "leader" } satisfies FailoverReport);
    await Bun.sleep(retryMs);
  }
}

await main(JSON.parse(Bun.argv[2] ?? "{}") as FailoverOptions);
