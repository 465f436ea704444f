import type { MemberId } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import type { Checkpoint } from "./disk-image.ts";
import type { Scheduled } from "./event-queue.ts";
import type { Profile } from "./profile.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** What happens in a simulation, and to whom. What belongs to a process that has crashed since does not happen. */
export type Happening =
  | { readonly kind: "tick"; readonly member: MemberId; readonly incarnation: number }
  | {
      readonly kind: "deliver";
      readonly message: Message;
      readonly snapshot: Checkpoint | undefined;
      /** Sent in the last phase. */
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
  /** Something that a process wanted to be called for. */
  | { readonly kind: "timer"; readonly member: MemberId; readonly incarnation: number; readonly run: () => void }
  | { readonly kind: "restart"; readonly member: MemberId }
  | { readonly kind: "client"; readonly client: number }
  | { readonly kind: "action" };

export interface SimEvent extends Scheduled {
  readonly what: Happening;
}

/** What a member has of the world around it. */
export interface World {
  readonly random: SeededRandom;
  readonly profile: Profile;
  /** In units. */
  readonly now: number;
  /** While the end of a seed is judged: nothing fails any more. */
  readonly isCalm: boolean;
  /** Disks lose in a crash what they had acknowledged. */
  readonly disksLie: boolean;
  schedule(delayUnits: number, what: Happening): void;
  send(message: Message, snapshot: Checkpoint | undefined): void;
}

/** Where a process can be made to stop; each is between two things that a careless order would lose. */
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

/** Thrown at an armed crash point; unwinds to the simulation, which stops the process. */
export class Crash extends Error {
  readonly member: MemberId;

  constructor(member: MemberId, point: CrashPoint) {
    super(`member ${member} crashes at ${point}`);
    this.member = member;
  }
}
