import type { Member } from "../cluster/member.ts";
import type { LinkRule } from "../network/link-rules.ts";
import { clientPort } from "../network/network.ts";
import { anyone, type Fault, leading, repeating, type Scene, type Undo } from "./fault.ts";

export type Direction = readonly [from: number, to: number];

export function linkFault(
  name: string,
  does: string,
  membersMin: number,
  rule: Partial<LinkRule>,
  choose: (scene: Scene) => Direction[] | Promise<Direction[]>,
): Fault {
  return {
    name,
    does,
    parts: ["network"],
    membersMin,
    inject: async (scene) => {
      for (const [from, to] of await choose(scene)) scene.cluster.network.change(from, to, rule);
      return () => scene.cluster.network.heal();
    },
  };
}

export const cut: Partial<LinkRule> = { cut: 1 };

const numbers = ({ cluster }: Scene) => cluster.members.map(({ number }) => number);
const others = (scene: Scene, { number }: Member) => numbers(scene).filter((other) => other !== number);
const into = (scene: Scene, member: Member): Direction[] =>
  others(scene, member).map((other) => [other, member.number]);
const outOf = (scene: Scene, member: Member): Direction[] =>
  others(scene, member).map((other) => [member.number, other]);
const around = (scene: Scene, member: Member) => [...into(scene, member), ...outOf(scene, member)];
const toClients = ({ number }: Member): Direction[] => [
  [clientPort, number],
  [number, clientPort],
];
const everywhere = (scene: Scene): Direction[] =>
  numbers(scene).flatMap((from) => numbers(scene).flatMap((to) => (from === to ? [] : [[from, to] as const])));
/** Returns all links, including those to the clients and to etcd. */
const everyLink = ({ cluster: { network } }: Scene): Direction[] =>
  network.ports.flatMap((from) => network.ports.flatMap((to) => (from === to ? [] : [[from, to] as const])));

function halves(scene: Scene): Direction[] {
  const shuffled = scene.random.shuffled(numbers(scene));
  const side = new Set(shuffled.slice(0, Math.floor(shuffled.length / 2)));
  scene.note(`${[...side].map((number) => `m${number}`).join(", ")} apart`);
  return everywhere(scene).filter(([from, to]) => side.has(from) !== side.has(to));
}

/** Returns the links to cut so that all members except one hear only that one. */
function bridge(scene: Scene): Direction[] {
  const middle = anyone(scene).number;
  return everywhere(scene).filter(([from, to]) => from !== middle && to !== middle);
}

/** Returns the links to cut so that every member hears only the previous one. */
function ring(scene: Scene): Direction[] {
  const order = scene.random.shuffled(numbers(scene));
  scene.note(order.map((number) => `m${number}`).join(" → "));
  const next = (number: number) => order[(order.indexOf(number) + 1) % order.length];
  return everywhere(scene).filter(([from, to]) => next(from) !== to);
}

function oneLink(scene: Scene): Direction[] {
  const [left = 1, right = 1] = scene.random.shuffled(numbers(scene));
  scene.note(`m${left}–m${right}`);
  return [
    [left, right],
    [right, left],
  ];
}

/** Maximum time between changes, about the length of an election. */
const flapMsMax = 600;

export function flap(scene: Scene, directions: readonly Direction[]): Undo {
  const { network } = scene.cluster;
  let isCut = 0;
  const turn = async () => {
    isCut = 1 - isCut;
    for (const [from, to] of directions) network.change(from, to, { cut: isCut });
    await Bun.sleep(scene.random.below(flapMsMax));
  };
  return repeating(turn, () => network.heal());
}

export const networkFaults: readonly Fault[] = [
  linkFault("isolate-one", "one member is cut off from the others", 3, cut, (scene) => around(scene, anyone(scene))),
  linkFault("isolate-leader", "the leader is cut off from the others", 3, cut, async (scene) =>
    around(scene, await leading(scene)),
  ),
  linkFault("isolate-whole", "the leader is cut off from the others and the clients", 3, cut, async (scene) => {
    const member = await leading(scene);
    return [...around(scene, member), ...toClients(member)];
  }),
  linkFault("halves", "the members are split in two groups that do not hear each other", 3, cut, halves),
  linkFault("deaf-leader", "the leader hears nobody, but is heard", 3, cut, async (scene) =>
    into(scene, await leading(scene)),
  ),
  linkFault("mute-leader", "nobody hears the leader, but it hears all", 3, cut, async (scene) =>
    outOf(scene, await leading(scene)),
  ),
  linkFault("deaf-one", "one member hears nobody, but is heard", 3, cut, (scene) => into(scene, anyone(scene))),
  linkFault("mute-one", "nobody hears one member, but it hears all", 3, cut, (scene) => outOf(scene, anyone(scene))),
  linkFault("bridge", "two members do not hear each other, but both hear the third", 3, cut, bridge),
  linkFault("ring", "each member hears only the previous one", 3, cut, ring),
  linkFault("one-link", "one link is cut", 3, cut, oneLink),
  linkFault("all-links", "nobody hears anybody", 3, cut, everywhere),
  {
    name: "flapping-link",
    does: "one link is cut and restored in turns",
    parts: ["network"],
    membersMin: 3,
    inject: async (scene) => flap(scene, oneLink(scene)),
  },
  {
    name: "flapping-leader",
    does: "the leader is cut off and reconnected in turns",
    parts: ["network"],
    membersMin: 3,
    inject: async (scene) => flap(scene, around(scene, await leading(scene))),
  },
  linkFault("clients-cut", "clients cannot reach one member; the other members can", 1, cut, (scene) =>
    toClients(anyone(scene)),
  ),
  linkFault("answers-cut", "clients reach one member, but its answers are lost", 1, cut, (scene) => [
    [anyone(scene).number, clientPort],
  ]),
  linkFault("delay", "every frame takes 40 to 80 ms", 1, { delayUs: 40_000, jitterUs: 40_000 }, everyLink),
  linkFault("loss", "every tenth frame is lost", 1, { lossPermille: 100 }, everyLink),
  linkFault("repeat", "every fifth frame arrives twice, and frames overtake each other", 1, repeated(), everyLink),
  linkFault("damage", "one bit of every twentieth frame is flipped", 1, { corruptPermille: 50 }, everyLink),
  linkFault("narrow", "the members have 40 kB/s between them", 3, { bytesPerMs: 40 }, everywhere),
];

function repeated(): Partial<LinkRule> {
  return { duplicatePermille: 200, delayUs: 1, jitterUs: 20_000 };
}
