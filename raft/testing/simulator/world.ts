import type { MemberId } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import type { Checkpoint } from "./disk-image.ts";
import type { Scheduled } from "./event-queue.ts";
import type { Profile } from "./profile.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** The events of a simulation. Events of a crashed process are dropped. */
export type Happening =
  | { readonly kind: "tick"; readonly member: MemberId; readonly incarnation: number }
  | {
      readonly kind: "deliver";
      readonly message: Message;
      readonly snapshot: Checkpoint | undefined;
      /** Whether it was sent in the last phase. */
      readonly isCalm: boolean;
    }
  | { readonly kind: "written"; readonly member: MemberId; readonly incarnation: number }
  | { readonly kind: "applied"; readonly member: MemberId; readonly incarnation: number }
  | {
      readonly kind: "streamed";
      readonly member: MemberId;
      readonly incarnation: number;
      readonly to: MemberId;
      readonly arrived: boolean;
    }
  /** Timer that a process requested. */
  | { readonly kind: "timer"; readonly member: MemberId; readonly incarnation: number; readonly run: () => void }
  | { readonly kind: "restart"; readonly member: MemberId }
  | { readonly kind: "client"; readonly client: number }
  | { readonly kind: "action" };

export interface SimEvent extends Scheduled {
  readonly what: Happening;
}

/** The environment of a member. */
export interface World {
  readonly random: SeededRandom;
  readonly profile: Profile;
  /** Current time in units. */
  readonly now: number;
  /** Whether the end of a seed is being checked, without any faults. */
  readonly isCalm: boolean;
  /** Whether disks lose acknowledged data in a crash. */
  readonly disksLie: boolean;
  schedule(delayUnits: number, what: Happening): void;
  send(message: Message, snapshot: Checkpoint | undefined): void;
}

/** Points at which a process can be stopped. Each is between two steps that must not be reordered. */
export const crashPoints = [
  "readyTaken",
  "messagesSent",
  "writeDurable",
  "writeAcknowledged",
  "promisesSent",
  "beforeApply",
  "afterApply",
  "checkpointDurable",
  "logCompacted",
  "snapshotReceived",
  "snapshotInstalled",
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Thrown at an armed crash point. It unwinds to the simulation, which stops the process. */
export class Crash extends Error {
  readonly member: MemberId;

  constructor(member: MemberId, point: CrashPoint) {
    super(`member ${member} crashes at ${point}`);
    this.member = member;
  }
}
