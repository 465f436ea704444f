import {
  anyone,
  type Choice,
  everybody,
  type Fault,
  leader,
  minority,
  nothingToUndo,
  one,
  repeating,
  type Scene,
  startAll,
  type Undo,
} from "./fault.ts";

function processFault(name: string, does: string, membersMin: number, inject: Fault["inject"]): Fault {
  return { name, does, parts: ["process"], membersMin, inject };
}

export function killed(choose: Choice): Fault["inject"] {
  return async (scene) => {
    const members = await choose(scene);
    await Promise.all(members.map((member) => member.kill()));
    return () => startAll(members);
  };
}

export function paused(choose: Choice): Fault["inject"] {
  return async (scene) => {
    const members = await choose(scene);
    for (const member of members) member.pause();
    return () => members.forEach((member) => member.resume());
  };
}

/** Interval at which serving processes are killed: some while they start. */
const servingKillMs = 1_500;

/** Kills some of them at a time, so that the others of a member often go on. */
async function servingKilled({ cluster, random }: Scene): Promise<Undo> {
  return repeating(async () => {
    for (const member of cluster.members) {
      for (const pid of member.servingPids()) if (random.below(2) === 0) signal(pid, "SIGKILL");
    }
    await Bun.sleep(random.below(servingKillMs));
  }, nothingToUndo);
}

async function servingPaused(scene: Scene): Promise<Undo> {
  const pids = anyone(scene).servingPids();
  for (const pid of pids) signal(pid, "SIGSTOP");
  return () => pids.forEach((pid) => signal(pid, "SIGCONT"));
}

/** A process may have ended since it was found. */
function signal(pid: number, name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Time slice of a process that gets a tenth of a CPU. */
const sliceMs = 20;
const sliceIdleMs = 180;

export function starved(choose: Choice): Fault["inject"] {
  return async (scene) => {
    const members = await choose(scene);
    const resume = () => members.forEach((member) => member.resume());
    return repeating(async () => {
      for (const member of members) member.pause();
      await Bun.sleep(sliceIdleMs);
      resume();
      await Bun.sleep(sliceMs);
    }, resume);
  };
}

/** Maximum time from a start to the kill, which may interrupt its recovery. */
const loopKillMsMax = 700;
const loopKills = 5;

async function killedInALoop(scene: Scene): Promise<Undo> {
  const member = anyone(scene);
  for (let kill = 0; kill < loopKills; kill++) {
    await member.kill();
    await member.start();
    await Bun.sleep(scene.random.below(loopKillMsMax));
  }
  await member.kill();
  return () => member.start();
}

export function stopped(choose: Choice): Fault["inject"] {
  return async (scene) => {
    const members = await choose(scene);
    await Promise.all(members.map((member) => member.stop()));
    return () => startAll(members);
  };
}

/** Maximum wait until it is ready. With another fault at the same time it may never be. */
const rollReadyMsMax = 8_000;

async function rolled({ cluster, random }: Scene): Promise<Undo> {
  for (const member of random.shuffled(cluster.members)) {
    await member.stop();
    await member.start();
    await cluster.isReadyWithin(member.number, rollReadyMsMax);
  }
  return nothingToUndo;
}

export const processFaults: readonly Fault[] = [
  {
    ...processFault("kill-serving", "some serving processes of members are killed, again and again", 1, servingKilled),
    isOfServing: true,
  },
  {
    ...processFault("pause-serving", "SIGSTOP to the serving processes of one member", 1, servingPaused),
    isOfServing: true,
  },
  processFault("kill-one", "SIGKILL to one member", 1, killed(one)),
  processFault("kill-leader", "SIGKILL to the leader", 3, killed(leader)),
  processFault("kill-minority", "SIGKILL to the largest minority", 5, killed(minority)),
  processFault("kill-all", "SIGKILL to all members at once", 1, killed(everybody)),
  processFault("pause-one", "SIGSTOP to one member", 1, paused(one)),
  processFault("pause-leader", "SIGSTOP to the leader", 3, paused(leader)),
  processFault("pause-all", "SIGSTOP to all members at once", 1, paused(everybody)),
  processFault(
    "kill-loop",
    `one member is killed ${loopKills} times, at most ${loopKillMsMax} ms after each start`,
    1,
    killedInALoop,
  ),
  processFault("starve-cpu", "one member gets a tenth of the time, in slices", 1, starved(one)),
  processFault("starve-leader", "the leader gets a tenth of the time, in slices", 3, starved(leader)),
  processFault("stop-one", "one member stops in an orderly way and starts again", 1, stopped(one)),
  processFault(
    "rolling-restart",
    "members stop in an orderly way and start again, one after another, each when the previous one is ready",
    1,
    rolled,
  ),
];
