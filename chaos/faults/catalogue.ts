import { whyWithout } from "../requirements.ts";
import { clockFaults } from "./clock-faults.ts";
import { clusterFaults } from "./cluster-faults.ts";
import { diskFaults } from "./disk-faults.ts";
import type { Fault } from "./fault.ts";
import { networkFaults } from "./network-faults.ts";
import { processFaults } from "./process-faults.ts";

/** All classes of faults. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...diskFaults,
  ...networkFaults,
  ...clockFaults,
  ...clusterFaults,
];

/** Returns a class, or two of them at the same time: `pause-leader+halves`. */
export function faultNamed(name: string): Fault | undefined {
  const [first, second, ...more] = name.split("+").map((part) => faults.find((fault) => fault.name === part));
  if (!name.includes("+") || more.length > 0) return more.length > 0 ? undefined : first;
  return first === undefined || second === undefined || !goTogether(first, second)
    ? undefined
    : together(first, second);
}

function together(first: Fault, second: Fault): Fault {
  const needs = first.needs ?? second.needs;
  return {
    name: `${first.name}+${second.name}`,
    does: `${first.does}; ${second.does}`,
    parts: [...first.parts, ...second.parts],
    membersMin: Math.max(first.membersMin, second.membersMin),
    ...(needs === undefined ? {} : { needs }),
    inject: async (scene) => {
      const undoFirst = await first.inject(scene);
      const undoSecond = await second.inject(scene);
      return async () => {
        await undoSecond();
        await undoFirst();
      };
    },
  };
}

/** Returns the reason why a class cannot run here with that many members, or undefined if it can. */
export function whyNot({ needs, membersMin }: Fault, members: number): string | undefined {
  if (members < membersMin) return `needs ${membersMin} members`;
  return needs === undefined ? undefined : whyWithout(needs);
}

/** Reports whether two faults can be active at the same time. */
export function goTogether(left: Fault, right: Fault): boolean {
  return left.parts.every((part) => !right.parts.includes(part));
}
