import { join } from "node:path";
import { readCertificates } from "../example/certificates.ts";
import {
  type CrashPoint,
  createLog,
  foundedBy,
  logExists,
  membershipOf,
  openLog,
  RaftError,
  RaftNode,
  TlsTransport,
  toMemberId,
} from "../index.ts";
import type { Disk } from "../storage/disk.ts";
import { openLogOn } from "../storage/open-log.ts";
import { openSystemDisk } from "../storage/system-disk.ts";
import { type Contents, SoakState } from "./soak-state.ts";

/** Options of a member in its own process, which gets its orders over IPC. */
export interface MemberOptions {
  readonly id: number;
  readonly ports: readonly number[];
  readonly directory: string;
  /** Directory of the state machine's file. */
  readonly stateDirectory: string;
  readonly certificates: string;
  /** Whether to acknowledge writes that are not durable. The soak must detect it. */
  readonly lyingSync?: boolean;
  /** The crash point at which the process kills itself, at the `count`th visit. */
  readonly crash?: { readonly point: CrashPoint; readonly count: number };
}

export type Order =
  | { readonly request: number; readonly order: "write"; readonly id: string; readonly bytes: number }
  | { readonly request: number; readonly order: "read"; readonly id: string }
  | { readonly request: number; readonly order: "contents" };

export type Answer =
  | { readonly request: 0; readonly started: true }
  | { readonly request: number; readonly done: boolean }
  | { readonly request: number; readonly contents: Contents; readonly leads: boolean }
  | { readonly request: number; readonly refused: string };

const timing = { heartbeatMs: 50, electionMs: 300, proposalMs: 3000, readMs: 3000 };

async function main({
  id,
  ports,
  directory,
  stateDirectory,
  certificates,
  lyingSync,
  crash,
}: MemberOptions): Promise<void> {
  const owner = { clusterId: "soak", memberId: toMemberId(id) };
  const founders = foundedBy(membershipOf(ports.map((_, position) => toMemberId(position + 1))));
  const own = join(directory, "log");
  if (!logExists(own)) await createLog(own, owner, founders);
  let left = crash?.count ?? 0;
  const reach = (point: CrashPoint) => {
    if (point === crash?.point && --left === 0) process.kill(process.pid, "SIGKILL");
  };
  const tuning = { segmentBytes: 1 << 20, reach };
  const { log, starts } = await (lyingSync === true
    ? openLogOn(lyingDisk(openSystemDisk(own)), owner, tuning)
    : openLog(own, owner, tuning));
  const addressOf = (member: number) => ({ host: "127.0.0.1", port: ports[member - 1] ?? 0 });
  const tls = () => readCertificates(certificates, id);
  const transport = new TlsTransport({ ...owner, starts, listen: addressOf(id), addressOf, tls, silenceMs: 600 });
  const stateMachine = new SoakState(join(stateDirectory, `state-${id}.json`));
  const node = await RaftNode.start({
    id: owner.memberId,
    log,
    transport,
    stateMachine,
    timing,
    logBytesMax: 256 << 10,
    tailEntries: 50,
    reach,
    events: {
      failed: (error) => {
        void Bun.write(Bun.stderr, `member ${id}: ${error.message}\n`);
        process.exit(3);
      },
    },
  });
  process.on("message", (order: Order) => {
    void answerTo(order, node, stateMachine).then(answer, (error: Error) =>
      answer({ request: order.request, refused: error instanceof RaftError ? error.code : String(error) }),
    );
  });
  // The watching process has ended.
  process.on("disconnect", () => process.exit());
  answer({ request: 0, started: true });
}

function lyingDisk(disk: Disk): Disk {
  return {
    directory: disk.directory,
    list: () => disk.list(),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    syncDirectory: async () => {},
    open: (name, how) => {
      const file = disk.open(name, how);
      return {
        name,
        size: () => file.size(),
        read: (into, position) => file.read(into, position),
        write: (bytes, position) => file.write(bytes, position),
        sync: async () => {},
        close: () => file.close(),
      };
    },
  };
}

async function answerTo(order: Order, node: RaftNode<number>, state: SoakState): Promise<Answer> {
  const { request } = order;
  switch (order.order) {
    case "write":
      await node.propose(Buffer.from(`${order.id} `.padEnd(order.bytes, "x")));
      return { request, done: true };
    case "read":
      await node.readIndex();
      return { request, done: state.has(order.id) };
    case "contents":
      return { request, contents: state.contents, leads: node.status().role === "leader" };
  }
}

function answer(what: Answer): void {
  if (process.connected) process.send?.(what);
}

await main(JSON.parse(Bun.argv[2] ?? "{}") as MemberOptions).catch((error: Error) => {
  void Bun.write(Bun.stderr, `${error.stack}\n`);
  process.exit(4);
});
