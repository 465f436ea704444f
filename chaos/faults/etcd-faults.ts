import type { EtcdCluster } from "../cluster/etcd-cluster.ts";
import type { Member } from "../cluster/member.ts";
import { withoutPower } from "./disk-faults.ts";
import { anyone, type Choice, type Fault, nothingToUndo, repeating, type Scene, type Undo } from "./fault.ts";
import { cut, type Direction, flap, linkFault } from "./network-faults.ts";
import { killed, paused, starved, stopped } from "./process-faults.ts";
import { traceCalls } from "./traced-calls.ts";

/** Pause between two compactions. */
const compactMs = 300;
/** Time for which a replica misses changes before they are compacted. */
const missedMs = 500;

function etcdFault(name: string, does: string, etcdMembersMin: number, inject: Fault["inject"]): Fault {
  return { name, does, parts: ["etcd"], membersMin: 1, etcdMembersMin, inject };
}

/** Returns a fault that removes history. No other fault may keep all replicas from reading it before. */
function historyFault(name: string, does: string, inject: Fault["inject"]): Fault {
  return { ...etcdFault(name, does, 1, inject), parts: ["etcd", "network", "process"] };
}

function etcdLinkFault(
  name: string,
  does: string,
  etcdMembersMin: number,
  choose: (scene: Scene) => Direction[] | Promise<Direction[]>,
): Fault {
  return { ...linkFault(name, does, 1, cut, choose), etcdMembersMin };
}

function etcdOf({ cluster }: Scene): EtcdCluster {
  if (cluster.etcd === undefined) throw new Error("the objects are in a store of our own");
  return cluster.etcd;
}

function anyMember(scene: Scene): Member {
  const member = scene.random.pick(etcdOf(scene).members);
  scene.note(member.name);
  return member;
}

async function leading(scene: Scene): Promise<Member> {
  const member = await etcdOf(scene).leader();
  if (member === undefined) return anyMember(scene);
  scene.note(`${member.name}, leader`);
  return member;
}

const one: Choice = (scene) => [anyMember(scene)];
const leader: Choice = async (scene) => [await leading(scene)];
const everybody: Choice = (scene) => [...etcdOf(scene).members];

/** Returns the links between two groups, in both directions. */
function between(left: readonly Member[], right: readonly Member[]): Direction[] {
  return [...from(left, right), ...from(right, left)];
}

function from(left: readonly Member[], right: readonly Member[]): Direction[] {
  return left.flatMap((a) => right.filter((b) => b !== a).map((b) => [a.number, b.number] as const));
}

const toPeers = (scene: Scene, member: Member) => between([member], etcdOf(scene).members);
const toReplicas = (scene: Scene, members: readonly Member[]) => between(members, scene.cluster.members);
const toEtcd = (scene: Scene, replica: Member) => between([replica], etcdOf(scene).members);

async function movedLeader(scene: Scene): Promise<Undo> {
  const etcd = etcdOf(scene);
  const now = await leading(scene);
  const to = scene.random.pick(etcd.members.filter((member) => member !== now));
  scene.note(`to ${to.name}`);
  await etcd.moveLeader(to);
  return nothingToUndo;
}

async function restartedInTurn(scene: Scene): Promise<Undo> {
  const etcd = etcdOf(scene);
  for (const member of scene.random.shuffled(etcd.members)) {
    await member.stop();
    await etcd.heal();
  }
  return nothingToUndo;
}

async function compacted(scene: Scene): Promise<Undo> {
  return repeating(async () => {
    await etcdOf(scene).compact(await scene.recordHistory());
    await Bun.sleep(compactMs);
  }, nothingToUndo);
}

async function compactedBehind(scene: Scene): Promise<Undo> {
  const { network } = scene.cluster;
  const replica = anyone(scene);
  for (const [near, far] of toEtcd(scene, replica)) network.change(near, far, cut);
  await Bun.sleep(missedMs);
  await etcdOf(scene).compact(await scene.recordHistory(replica));
  return () => network.heal();
}

async function defragmented(scene: Scene): Promise<Undo> {
  const etcd = etcdOf(scene);
  return repeating(async () => {
    for (const member of scene.random.shuffled(etcd.members)) await etcd.defragment(member);
  }, nothingToUndo);
}

async function filled(scene: Scene): Promise<Undo> {
  const etcd = etcdOf(scene);
  scene.note(`${await etcd.fill()} values`);
  return () => etcd.drain(() => scene.recordHistory());
}

/** Faults of the etcd that keeps the objects, and of the network on the way there. */
export const etcdFaults: readonly Fault[] = [
  etcdFault("etcd-kill-one", "SIGKILL to one member of etcd", 1, killed(one)),
  etcdFault("etcd-kill-leader", "SIGKILL to etcd's leader", 3, killed(leader)),
  etcdFault("etcd-kill-all", "SIGKILL to all members of etcd at once", 1, killed(everybody)),
  etcdFault("etcd-pause-one", "SIGSTOP to one member of etcd", 1, paused(one)),
  etcdFault("etcd-pause-leader", "SIGSTOP to etcd's leader", 3, paused(leader)),
  etcdFault("etcd-starve-leader", "etcd's leader gets a tenth of the time, in slices", 3, starved(leader)),
  etcdFault("etcd-stop-one", "one member of etcd stops in an orderly way and starts again", 1, stopped(one)),
  etcdFault("etcd-rolling-restart", "the members of etcd stop and start again, one after another", 1, restartedInTurn),
  etcdFault("etcd-power-cut-one", "one member of etcd loses power", 1, withoutPower(one)),
  etcdFault("etcd-power-cut-all", "all members of etcd lose power at once", 1, withoutPower(everybody)),
  {
    ...etcdFault("etcd-slow-sync", "every sync of one member of etcd takes 200 ms longer", 1, async (scene) =>
      traceCalls(anyMember(scene), ["fsync,fdatasync:delay_exit=200000"]),
    ),
    needs: "strace",
  },
  etcdFault("etcd-move-leader", "etcd's leader transfers leadership to another member", 3, movedLeader),
  etcdFault("etcd-defragment", "the members of etcd are defragmented, again and again", 1, defragmented),
  historyFault("etcd-compact", "the history is compacted every 300 ms, under its readers", compacted),
  {
    ...historyFault("etcd-compact-missed", "one server hears nothing while the history is compacted", compactedBehind),
    membersMin: 2,
  },
  historyFault("etcd-full", "etcd's database is full, and later compacted and defragmented", filled),
  etcdLinkFault(
    "etcd-isolate-one",
    "one member of etcd is cut off from the others, but not from the servers",
    3,
    (scene) => toPeers(scene, anyMember(scene)),
  ),
  etcdLinkFault(
    "etcd-isolate-leader",
    "etcd's leader is cut off from the others, but not from the servers",
    3,
    async (scene) => toPeers(scene, await leading(scene)),
  ),
  etcdLinkFault("etcd-isolate-whole", "etcd's leader is cut off from the others and the servers", 3, async (scene) => {
    const member = await leading(scene);
    return [...toPeers(scene, member), ...toReplicas(scene, [member])];
  }),
  etcdLinkFault("etcd-all-links", "no member of etcd hears another one", 3, (scene) => {
    const { members } = etcdOf(scene);
    return between(members, members);
  }),
  etcdLinkFault("etcd-one-silent", "one member of etcd and the servers do not hear each other", 1, (scene) =>
    toReplicas(scene, [anyMember(scene)]),
  ),
  etcdLinkFault("etcd-cut-off", "one server is cut off from etcd", 1, (scene) => toEtcd(scene, anyone(scene))),
  etcdLinkFault("etcd-all-cut-off", "all servers are cut off from etcd", 1, (scene) =>
    toReplicas(scene, etcdOf(scene).members),
  ),
  etcdLinkFault("etcd-answers-cut", "etcd hears one server, but its answers are lost", 1, (scene) =>
    from(etcdOf(scene).members, [anyone(scene)]),
  ),
  {
    name: "etcd-flapping",
    does: "one server is cut off from etcd and reconnected in turns",
    parts: ["network"],
    membersMin: 1,
    etcdMembersMin: 1,
    inject: async (scene) => flap(scene, toEtcd(scene, anyone(scene))),
  },
];
