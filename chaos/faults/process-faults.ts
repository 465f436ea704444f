import type { Member } from "../cluster/member.ts";
import { anyone, type Fault, leading, minority, nothingToUndo, type Scene, type Undo } from "./fault.ts";

type Choice = (scene: Scene) => Member[] | Promise<Member[]>;

const one: Choice = (scene) => [anyone(scene)];
const leader: Choice = async (scene) => [await leading(scene)];
const few: Choice = minority;
const everybody: Choice = ({ cluster }) => [...cluster.members];

function killing(name: string, does: string, membersMin: number, choose: Choice): Fault {
  return {
    name,
    does,
    parts: ["process"],
    membersMin,
    inject: async (scene) => {
      const members = await choose(scene);
      await Promise.all(members.map((member) => member.kill()));
      return () => startAll(members);
    },
  };
}

function pausing(name: string, does: string, membersMin: number, choose: Choice): Fault {
  return {
    name,
    does,
    parts: ["process"],
    membersMin,
    inject: async (scene) => {
      const members = await choose(scene);
      for (const member of members) member.pause();
      return () => members.forEach((member) => member.resume());
    },
  };
}

/** Killed so soon after its start that it may be in the middle of recovering. */
const loopKillMsMax = 700;
const loopKills = 5;
/** With another fault at the same time it may never be. */
const rollReadyMsMax = 8_000;
/** A process that gets a tenth of a CPU. */
const sliceMs = 20;
const sliceIdleMs = 180;

export const processFaults: readonly Fault[] = [
  killing("kill-one", "SIGKILL to one member", 1, one),
  killing("kill-leader", "SIGKILL to the leader", 3, leader),
  killing("kill-minority", "SIGKILL to as many as the cluster can be without", 5, few),
  killing("kill-all", "SIGKILL to all members at once", 1, everybody),
  pausing("pause-one", "SIGSTOP to one member", 1, one),
  pausing("pause-leader", "SIGSTOP to the leader", 3, leader),
  pausing("pause-all", "SIGSTOP to all members at once", 1, everybody),
  {
    name: "kill-loop",
    does: `one member is killed ${loopKills} times, at most ${loopKillMsMax} ms after each start`,
    parts: ["process"],
    membersMin: 1,
    inject: async (scene) => {
      const member = anyone(scene);
      for (let kill = 0; kill < loopKills; kill++) {
        await member.kill();
        await member.start();
        await Bun.sleep(scene.random.below(loopKillMsMax));
      }
      await member.kill();
      return () => member.start();
    },
  },
  {
    name: "starve-cpu",
    does: "one member runs a tenth of the time, in slices",
    parts: ["process"],
    membersMin: 1,
    inject: async (scene) => strobe(anyone(scene)),
  },
  {
    name: "starve-leader",
    does: "the leader runs a tenth of the time, in slices",
    parts: ["process"],
    membersMin: 3,
    inject: async (scene) => strobe(await leading(scene)),
  },
  {
    name: "stop-one",
    does: "one member is stopped in order and started again",
    parts: ["process"],
    membersMin: 1,
    inject: async (scene) => {
      const member = anyone(scene);
      await member.stop();
      return () => member.start();
    },
  },
  {
    name: "rolling-restart",
    does: "one member after another is stopped in order and started again when the one before is ready",
    parts: ["process"],
    membersMin: 1,
    inject: async ({ cluster, random }) => {
      for (const member of random.shuffled(cluster.members)) {
        await member.stop();
        await member.start();
        await cluster.isReadyWithin(member.number, rollReadyMsMax);
      }
      return nothingToUndo;
    },
  },
];

async function startAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.start()));
}

function strobe(member: Member): Undo {
  let isOver = false;
  const slices = (async () => {
    while (!isOver) {
      member.pause();
      await Bun.sleep(sliceIdleMs);
      member.resume();
      await Bun.sleep(sliceMs);
    }
  })();
  return async () => {
    isOver = true;
    await slices;
    member.resume();
  };
}
