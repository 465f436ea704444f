import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Member } from "../cluster/member.ts";
import type { Tool } from "../requirements.ts";

/** A part that a fault affects. Two faults at the same time must not share any. */
export type Part = "process" | "network" | "disk" | "clock" | "membership" | "etcd";

export interface Scene {
  readonly cluster: Cluster;
  /** Random source of the fault, so that a replay makes the same choices. */
  readonly random: SeededRandom;
  /**
   * Adds the history so far to the record, before a fault removes it. Returns the last recorded revision. Asks
   * no member in vain that a fault has made silent.
   */
  readonly recordHistory: (silent?: Member) => Promise<number>;
  /** Records a choice for the report. */
  readonly note: (text: string) => void;
}

export type Undo = () => Promise<void> | void;

/** A class of faults. */
export interface Fault {
  readonly name: string;
  /** Description for tables: one sentence without a full stop. */
  readonly does: string;
  readonly parts: readonly Part[];
  /** Minimum number of members with which it makes sense. */
  readonly membersMin: number;
  /** Minimum number of members of etcd; 0 by default, for faults of the replicas alone. */
  readonly etcdMembersMin?: number;
  /** Whether it concerns the serving processes of a member. */
  readonly isOfServing?: boolean;
  readonly needs?: Tool;
  /** Causes the fault and returns the function that ends it. */
  readonly inject: (scene: Scene) => Promise<Undo>;
}

export const nothingToUndo: Undo = () => {};

/**
 * Repeats a step. The returned function stops that, undoes the last step, and then throws the error of a step that
 * failed.
 */
export function repeating(step: () => Promise<void>, undo: () => void): Undo {
  let isOver = false;
  const steps = (async () => {
    while (!isOver) await step();
  })();
  // The error is awaited only at the end.
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

/** Chooses the victims of a fault. */
export type Choice = (scene: Scene) => Member[] | Promise<Member[]>;

export const one: Choice = (scene) => [anyone(scene)];
export const leader: Choice = async (scene) => [await leading(scene)];
export const everybody: Choice = ({ cluster }) => [...cluster.members];

export function anyone({ cluster, random, note }: Scene): Member {
  const member = random.pick(cluster.members);
  note(member.name);
  return member;
}

/** Returns the leader, or a random member if the leader is unknown. */
export async function leading(scene: Scene): Promise<Member> {
  const number = await scene.cluster.leader();
  if (number === undefined) return anyone(scene);
  const member = scene.cluster.member(number);
  scene.note(`${member.name}, leader`);
  return member;
}

/** Returns as many members as a cluster can lose; one member for a cluster of one or two. */
export function minority({ cluster, random, note }: Scene): Member[] {
  const size = Math.max(1, Math.floor((cluster.members.length - 1) / 2));
  const members = random.shuffled(cluster.members).slice(0, size);
  note(members.map(({ name }) => name).join(", "));
  return members;
}

export async function startAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.start()));
}
