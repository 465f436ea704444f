import { closeSync, openSync, readdirSync, readSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import { anyone, type Fault, leading, nothingToUndo, type Scene, type Undo } from "./fault.ts";

/** Number of objects that exceeds the log that members keep. */
const bulkObjects = 48;
const bulkObjectBytes = 900_000;
const bulkNamespace = "bulk";
/** Range of times after its start at which it takes the snapshot. */
const interruptedMsMin = 600;
const interruptedMsMax = 2_000;
/** Time after which a member with damaged files that is not ready is replaced, as an administrator would do. */
const damagedReadyMsMax = 8_000;
const damages = 6;

export const clusterFaults: readonly Fault[] = [
  {
    name: "transfer-leader",
    does: "the leader transfers leadership to another member",
    parts: ["membership"],
    membersMin: 3,
    inject: transfer,
  },
  loss("replace-member", "one member is lost with its disk and removed, and a new one joins", async (scene) => {
    const { member, id } = await killOne(scene);
    return () => replace(scene.cluster, member, id);
  }),
  loss("replace-leader", "the leader is removed while it runs, and joins again as a new member", async (scene) => {
    const member = await leading(scene);
    const id = (await scene.cluster.status(member.number))?.self;
    if (id !== undefined) await scene.cluster.remove(id);
    return async () => {
      await member.kill();
      await replace(scene.cluster, member, id);
    };
  }),
  {
    ...loss(
      "newcomer-leads",
      "one member is away while another is replaced, and returns when the new one leads",
      async (scene) => {
        const { cluster, random, note } = scene;
        const [away, old] = random.shuffled(cluster.members) as [Member, Member];
        note(`${away.name} away, ${old.name} new`);
        const id = (await cluster.status(old.number))?.self;
        await away.kill();
        await old.kill();
        await replace(cluster, old, id);
        await handOver(cluster, old);
        return () => away.start();
      },
    ),
    membersMin: 5,
  },
  loss("snapshot-install", "one member is away until the others no longer keep its part of the log", async (scene) => {
    const member = await leaveBehind(scene);
    return () => member.start();
  }),
  loss("snapshot-interrupted", "one member needs a snapshot, and is killed while it receives it", async (scene) => {
    const member = await leaveBehind(scene);
    await member.start();
    await Bun.sleep(scene.random.between(interruptedMsMin, interruptedMsMax));
    await member.kill();
    return () => member.start();
  }),
  loss("flipped-bits", "single bits are flipped in the files of a killed member", damaged(flipBits)),
  loss("cut-files", "the files of a killed member lose their ends", damaged(cutEnds)),
];

/** Returns a fault that loses a member, or leaves it too far behind to recover by itself. */
function loss(name: string, does: string, inject: Fault["inject"]): Fault {
  return { name, does, parts: ["membership", "process", "disk"], membersMin: 3, inject };
}

async function transfer(scene: Scene): Promise<Undo> {
  const { cluster, random, note } = scene;
  const leader = await leading(scene);
  const to = random.pick(cluster.members.filter((member) => member !== leader));
  note(`to ${to.name}`);
  await handOver(cluster, to);
  return nothingToUndo;
}

async function handOver(cluster: Cluster, to: Member): Promise<void> {
  const leader = await cluster.leader();
  const id = (await cluster.status(to.number))?.self;
  if (leader !== undefined) await cluster.probe(leader).ask("POST", "/cluster/leader", { to: id });
}

function damaged(harm: (file: string, random: SeededRandom) => void): Fault["inject"] {
  return async (scene) => {
    const { cluster, random, note } = scene;
    const { member, id } = await killOne(scene);
    const files = ["log", "state"].flatMap((part) => filesIn(join(member.dataDirectory, part)));
    for (let done = 0; done < damages && files.length > 0; done++) harm(random.pick(files), random);
    return async () => {
      await member.start();
      if (await cluster.isReadyWithin(member.number, damagedReadyMsMax)) return;
      note(member.isRunning ? "not ready, replaced" : "refused to start, replaced");
      await member.kill();
      await replace(cluster, member, id);
    };
  };
}

/** Kills a member, and returns it with its number in the cluster if that was known. */
async function killOne(scene: Scene): Promise<{ member: Member; id: number | undefined }> {
  const member = anyone(scene);
  const id = (await scene.cluster.status(member.number))?.self;
  await member.kill();
  return { member, id };
}

/** Kills a member and writes more than the others keep of their log. */
async function leaveBehind(scene: Scene): Promise<Member> {
  const member = anyone(scene);
  await member.kill();
  await writeBulk(scene, member);
  return member;
}

async function replace(cluster: Cluster, member: Member, id: number | undefined): Promise<void> {
  if (id !== undefined && !(await cluster.remove(id))) throw new Error(`${member.name} could not be removed`);
  member.wipe();
  if (!(await cluster.join(member.number))) throw new Error(`${member.name} could not join again`);
}

async function writeBulk({ cluster, random, note }: Scene, away: Member): Promise<void> {
  const others = cluster.members.filter((member) => member !== away);
  const payload = "x".repeat(bulkObjectBytes);
  const run = random.next();
  const ask = (place: number, method: string, path: string, body?: unknown) =>
    cluster.probe(others[place % others.length]?.number ?? 1).ask(method, path, body);
  await ask(0, "POST", "/api/v1/namespaces", { metadata: { name: bulkNamespace } });
  const path = `/api/v1/namespaces/${bulkNamespace}/configmaps`;
  let written = 0;
  for (let number = 0; number < bulkObjects; number++) {
    const body = { metadata: { name: `bulk-${run}-${number}` }, data: { payload } };
    if ((await ask(number, "POST", path, body)) !== undefined) written++;
  }
  note(`${written} objects`);
  await ask(0, "DELETE", path);
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(directory, name))
    .filter((path) => statSync(path).size > 0)
    .sort();
}

function flipBits(path: string, random: SeededRandom): void {
  const file = openSync(path, "r+");
  try {
    const byte = new Uint8Array(1);
    const at = random.below(statSync(path).size);
    readSync(file, byte, 0, 1, at);
    byte[0] = (byte[0] ?? 0) ^ (1 << random.below(8));
    writeSync(file, byte, 0, 1, at);
  } finally {
    closeSync(file);
  }
}

function cutEnds(path: string, random: SeededRandom): void {
  truncateSync(path, random.below(statSync(path).size));
}
