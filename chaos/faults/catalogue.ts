import { whyWithout } from "../requirements.ts";
import { clockFaults } from "./clock-faults.ts";
import { clusterFaults } from "./cluster-faults.ts";
import { diskFaults } from "./disk-faults.ts";
import type { Fault } from "./fault.ts";
import { networkFaults } from "./network-faults.ts";
import { processFaults } from "./process-faults.ts";

/** Every class of faults there is. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...diskFaults,
  ...networkFaults,
  ...clockFaults,
  ...clusterFaults,
];

export function faultNamed(name: string): Fault | undefined {
  return faults.find((fault) => fault.name === name);
}

/** Why a class cannot be run here with so many members; undefined when it can. */
export function whyNot({ needs, membersMin }: Fault, members: number): string | undefined {
  if (members < membersMin) return `needs ${membersMin} members`;
  return needs === undefined ? undefined : whyWithout(needs);
}

/** Whether two can be on at the same time without getting into each other's way. */
export function goTogether(left: Fault, right: Fault): boolean {
  return left.parts.every((part) => !right.parts.includes(part));
}
