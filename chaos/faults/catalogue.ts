import type { ClusterSize } from "../cluster/cluster-size.ts";
import { whyWithout } from "../requirements.ts";
import { clockFaults } from "./clock-faults.ts";
import { clusterFaults } from "./cluster-faults.ts";
import { diskFaults } from "./disk-faults.ts";
import { etcdFaults } from "./etcd-faults.ts";
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
  ...etcdFaults,
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
    etcdMembersMin: Math.max(first.etcdMembersMin ?? 0, second.etcdMembersMin ?? 0),
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

/** Returns the size of a cluster that is large enough for a class. */
export function sizeFor({ etcdMembersMin = 0 }: Fault): ClusterSize {
  return { members: Infinity, servingProcesses: Infinity, etcdMembers: etcdMembersMin };
}

/** Returns the reason why a class cannot run here with a cluster of that size, or undefined if it can. */
export function whyNot(fault: Fault, size: ClusterSize): string | undefined {
  const { needs, membersMin, etcdMembersMin = 0, isOfServing } = fault;
  if (size.members < membersMin) return `needs ${membersMin} members`;
  if (size.etcdMembers < etcdMembersMin) return `needs --etcd-members ${etcdMembersMin}`;
  if (etcdMembersMin === 0 && size.etcdMembers > 0 && membersMin > 1) return "servers on etcd form no cluster";
  if (isOfServing === true && size.servingProcesses === 0) return "needs --serving-processes";
  return needs === undefined ? undefined : whyWithout(needs);
}

/** Reports whether two faults can be active at the same time. */
export function goTogether(left: Fault, right: Fault): boolean {
  return left.parts.every((part) => !right.parts.includes(part));
}
