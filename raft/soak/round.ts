import { crashPoints } from "../crash-point.ts";
import { History } from "./history.ts";
import type { MemberProcess } from "./member-process.ts";
import type { Contents } from "./soak-state.ts";
import { PowerVolume, SmallVolume, type Volume } from "./volume.ts";

export const kinds = ["kill", "stop", "full", "power"] as const;
export type Kind = (typeof kinds)[number];

export interface SoakCluster {
  readonly members: readonly MemberProcess[];
  /** Volumes of the members, in the same order. */
  readonly volumes: readonly Volume[];
  readonly random: () => number;
}

/** Errors that leave it unknown whether the entry exists. */
const uncertain = new Set(["unknown", "stopped", "unconfirmed"]);
const writersCount = 12;
const settleMsMax = 30_000;

/** Runs writers and a fault, repairs everything, and checks that every promise was kept. */
export async function runRound(kind: Kind, round: number, cluster: SoakCluster): Promise<History> {
  const history = new History();
  const bytes = kind === "full" ? 8192 : 1024 + Math.floor(cluster.random() * 3000);
  let over = false;
  const writers = Array.from({ length: writersCount }, (_, writer) =>
    write(
      cluster,
      history,
      (count) => `${round}.${writer}.${count}`,
      bytes,
      () => over,
    ),
  );
  try {
    await Bun.sleep(100 + cluster.random() * 300);
    history.happened(await faults[kind](cluster));
    await Bun.sleep(200);
  } finally {
    over = true;
  }
  await Promise.all(writers);
  history.check(await settled(cluster, `${round}.settled`));
  return history;
}

/** Writes through a different running member each time, then reads the write through any member. */
async function write(
  { members, random }: SoakCluster,
  history: History,
  nameOf: (count: number) => string,
  bytes: number,
  isOver: () => boolean,
): Promise<void> {
  const anyMember = () => members[Math.floor(random() * members.length)] as MemberProcess;
  for (let count = 0; !isOver(); count++) {
    const id = nameOf(count);
    const writer = anyMember();
    if (!writer.isRunning) {
      await Bun.sleep(5);
      continue;
    }
    const answer = await writer.ask({ order: "write", id, bytes });
    if (answer === undefined) history.unknown(id);
    else if ("done" in answer) history.acknowledged(id);
    else if ("refused" in answer && !uncertain.has(answer.refused)) {
      history.refused(id);
      await Bun.sleep(20);
    } else history.unknown(id);
    if (answer === undefined || !("done" in answer) || random() > 0.2) continue;
    const reader = anyMember();
    const read = await reader.ask({ order: "read", id });
    if (read !== undefined && "done" in read) history.read(id, reader.id, read.done);
  }
}

/** Faults by kind. Each returns its actions for the report. */
const faults: Record<Kind, (cluster: SoakCluster) => Promise<readonly string[]>> = { kill, stop, full, power };

/** Kills one, two or all members by signal, and some of them again at a crash point. */
async function kill({ members, random }: SoakCluster): Promise<readonly string[]> {
  const victims = shuffled(members, random).slice(0, 1 + Math.floor(random() * members.length));
  const happened: string[] = victims.map(() => "killed");
  await Promise.all(
    victims.map(async (victim) => {
      await victim.kill();
      await Bun.sleep(random() * 800);
      if (random() < 0.7) {
        const point = crashPoints[Math.floor(random() * crashPoints.length)] ?? "logAfterSync";
        const isRare = /^(segment|compaction|snapshot)/.test(point);
        await victim.start({ point, count: 1 + Math.floor(random() * (isRare ? 2 : 40)) });
        for (let waited = 0; waited < 1500 && victim.isRunning; waited += 20) await Bun.sleep(20);
        happened.push(victim.isRunning ? "no crash" : `crashed at ${point}`);
        await victim.kill();
      }
      await victim.start();
    }),
  );
  return happened;
}

/** Stops processes for a time around the length of an election. */
async function stop({ members, random }: SoakCluster): Promise<readonly string[]> {
  const victims = shuffled(members, random).slice(0, 1 + Math.floor(random() * 2));
  for (const victim of victims) victim.signal("SIGSTOP");
  await Bun.sleep(100 + random() * 1500);
  for (const victim of victims) victim.signal("SIGCONT");
  return victims.map(() => "stopped");
}

/** Fills the disks of some members until they have ended, or for a while. */
async function full({ members, volumes, random }: SoakCluster): Promise<readonly string[]> {
  const victims = shuffled(members, random).slice(0, 1 + Math.floor(random() * members.length));
  const volumeOf = ({ id }: MemberProcess) => volumes[id - 1] as SmallVolume;
  for (const victim of victims) volumeOf(victim).fill();
  for (let waited = 0; waited < 2000 && victims.some((victim) => victim.isRunning); waited += 20) await Bun.sleep(20);
  const happened = victims.map((victim) => (victim.isRunning ? "disk full, not noticed" : "ended for a full disk"));
  for (const victim of victims) {
    await victim.kill();
    volumeOf(victim).release();
    await victim.start();
  }
  return happened;
}

/** Cuts the power of one, a minority or all, at the same moment. */
async function power({ members, volumes, random }: SoakCluster): Promise<readonly string[]> {
  const victims = shuffled(members, random).slice(0, 1 + Math.floor(random() * members.length));
  const volumeOf = ({ id }: MemberProcess) => volumes[id - 1] as PowerVolume;
  for (const victim of victims) volumeOf(victim).cutPower();
  await Promise.all(victims.map((victim) => victim.kill()));
  for (const victim of victims) {
    volumeOf(victim).restorePower();
    await victim.start();
  }
  return [`power cut of ${victims.length}`];
}

/** Waits until all members hold the same state and accept a last write. */
async function settled({ members }: SoakCluster, name: string): Promise<Contents[]> {
  const deadline = performance.now() + settleMsMax;
  for (let attempt = 0; performance.now() < deadline; attempt++) {
    const id = `${name}${attempt}`;
    const answer = await members[attempt % members.length]?.ask({ order: "write", id, bytes: 64 });
    if (answer === undefined || !("done" in answer)) {
      await Bun.sleep(50);
      continue;
    }
    const found = await contentsWith(members, id, deadline);
    if (found !== undefined) return found;
  }
  throw new Error("the members did not converge");
}

async function contentsWith(members: readonly MemberProcess[], id: string, deadline: number) {
  while (performance.now() < deadline) {
    const answers = await Promise.all(members.map((member) => member.ask({ order: "contents" })));
    const found = answers.flatMap((answer) => (answer !== undefined && "contents" in answer ? [answer.contents] : []));
    const isEven = found.every(({ applied }) => applied === found[0]?.applied);
    if (found.length === members.length && isEven && found.every(({ counts }) => counts.some(([one]) => one === id))) {
      return found;
    }
    await Bun.sleep(30);
  }
  return undefined;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}
