import type { Member } from "../cluster/member.ts";
import {
  anyone,
  type Choice,
  everybody,
  type Fault,
  leader,
  leading,
  minority,
  one,
  startAll,
  type Undo,
} from "./fault.ts";
import { traceCalls } from "./traced-calls.ts";

function powerCut(name: string, does: string, membersMin: number, choose: Choice): Fault {
  return { name, does, parts: ["process", "disk"], membersMin, inject: withoutPower(choose) };
}

export function withoutPower(choose: Choice): Fault["inject"] {
  return async (scene) => {
    const members = await choose(scene);
    for (const { disk } of members) disk.cutPower();
    await Promise.all(members.map((member) => member.kill()));
    for (const { disk } of members) disk.restorePower();
    return () => startAll(members);
  };
}

function calls(name: string, does: string, injected: readonly string[], chooseLeader = false): Fault {
  return {
    name,
    does,
    parts: ["process", "disk"],
    membersMin: chooseLeader ? 3 : 1,
    needs: "strace",
    inject: async (scene) => {
      const member = chooseLeader ? await leading(scene) : anyone(scene);
      return traceCalls(member, injected);
    },
  };
}

const syncs = "fsync,fdatasync";
const positionedWrites = "pwrite64,pwritev,pwritev2";

async function full(member: Member): Promise<Undo> {
  member.disk.fill();
  return () => member.disk.release();
}

export const diskFaults: readonly Fault[] = [
  powerCut("power-cut-one", "one member loses power, and all unsynced data with it", 1, one),
  powerCut("power-cut-leader", "the leader loses power", 3, leader),
  powerCut("power-cut-minority", "the largest minority loses power", 5, minority),
  powerCut("power-cut-all", "all members lose power at once", 1, everybody),
  {
    name: "disk-full",
    does: "one member's disk has no space left",
    parts: ["disk"],
    membersMin: 1,
    inject: (scene) => full(anyone(scene)),
  },
  {
    name: "disk-full-leader",
    does: "the leader's disk has no space left",
    parts: ["disk"],
    membersMin: 3,
    inject: async (scene) => full(await leading(scene)),
  },
  calls("slow-sync", "every sync of one member takes 200 ms longer", [`${syncs}:delay_exit=200000`]),
  calls("slow-sync-leader", "every sync of the leader takes 200 ms longer", [`${syncs}:delay_exit=200000`], true),
  calls("hung-sync", "no sync of one member returns", [`${syncs}:delay_enter=60000000`]),
  calls("hung-sync-leader", "no sync of the leader returns", [`${syncs}:delay_enter=60000000`], true),
  calls("sync-error", "every sync of one member fails with EIO", [`${syncs}:error=EIO`]),
  calls("sync-error-leader", "every sync of the leader fails with EIO", [`${syncs}:error=EIO`], true),
  calls("sync-error-once", "one sync of one member fails with EIO", [`${syncs}:error=EIO:when=3`]),
  calls("write-error", "positioned writes of one member fail with EIO", [`${positionedWrites}:error=EIO`]),
  calls("write-no-space", "positioned writes of one member fail with ENOSPC", [`${positionedWrites}:error=ENOSPC`]),
];
