import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import type { Tool } from "../requirements.ts";

/** What a fault has its hands on; two at the same time must not share any. */
export type Part = "process" | "network" | "disk" | "clock" | "membership";

export interface Scene {
  readonly cluster: Cluster;
  /** A fault's own, so that it makes the same choices again. */
  readonly random: SeededRandom;
  /** For the report: what was chosen. */
  readonly note: (text: string) => void;
}

export type Undo = () => Promise<void> | void;

/** A class of faults. */
export interface Fault {
  readonly name: string;
  /** One sentence without a full stop, for tables. */
  readonly does: string;
  readonly parts: readonly Part[];
  /** With fewer members it makes no sense. */
  readonly membersMin: number;
  readonly needs?: Tool;
  /** Brings it about; what is given back ends it. */
  readonly inject: (scene: Scene) => Promise<Undo>;
}

export const nothingToUndo: Undo = () => {};

/**
 * Takes the step again and again; what is given back ends that, undoes what the last one did, and then throws what a step has
 * thrown: that was the last one.
 */
export function repeating(step: () => Promise<void>, undo: () => void): Undo {
  let isOver = false;
  const steps = (async () => {
    while (!isOver) await step();
  })();
  // Nobody waits for it before.
  steps.catch(() => {});
  return async () => {
    isOver = true;
    try {
      await steps;
    } finally {
      undo();
    }
  };
}

/** Whom a fault befalls. */
export type Choice = (scene: Scene) => Member[] | Promise<Member[]>;

export const one: Choice = (scene) => [anyone(scene)];
export const leader: Choice = async (scene) => [await leading(scene)];
export const everybody: Choice = ({ cluster }) => [...cluster.members];

export function anyone({ cluster, random, note }: Scene): Member {
  const member = random.pick(cluster.members);
  note(member.name);
  return member;
}

/** Who leads now; anybody while nobody is known to. */
export async function leading(scene: Scene): Promise<Member> {
  const number = await scene.cluster.leader();
  if (number === undefined) return anyone(scene);
  const member = scene.cluster.member(number);
  scene.note(`${member.name}, leader`);
  return member;
}

/** As many as a cluster can be without; one of a cluster of one or two. */
export function minority({ cluster, random, note }: Scene): Member[] {
  const size = Math.max(1, Math.floor((cluster.members.length - 1) / 2));
  const members = random.shuffled(cluster.members).slice(0, size);
  note(members.map(({ name }) => name).join(", "));
  return members;
}

export async function startAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.start()));
}
