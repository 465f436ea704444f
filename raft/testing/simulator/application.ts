import type { MemberId } from "../../core/ids.ts";
import type { Machine } from "./machine.ts";
import type { Audience, SimMember } from "./sim-member.ts";
import type { World } from "./world.ts";

/** A user of a simulated cluster, which checks the answers. */
export interface Clients extends Audience {
  readonly readsServed: number;
  /** Whether every request is answered. */
  readonly isIdle: boolean;
  /** Description of the unfinished work, for the report of a violation. */
  readonly waitsFor?: string | undefined;
  /** Members that have served a read since the last phase began. */
  readonly servedBy: ReadonlySet<MemberId>;
  /** Runs one client at one of these members. It starts new requests only if it `mayBegin`. */
  turn(client: number, members: readonly SimMember[], mayBegin: boolean): void;
  read(member: SimMember): void;
  beginCalm(): void;
  forgetOldReads(): void;
  /** Checks the clients after all events of one moment. @throws Violation */
  settled?(): void;
  /** Checks the cluster at rest. @throws Violation when the state contradicts an answer to a client */
  checkEnd(machine: Machine | undefined): void;
}

/** The application that a simulation runs on its cluster. */
export interface Application {
  /** Whether a proposal may arrive twice without harm, although transports prevent it. */
  readonly repeatsProposals?: boolean;
  /** Time within which the cluster must come to rest at the end of a seed; a minute by default. */
  readonly restUnitsMax?: number;
  newMachine(): Machine;
  clients(world: World): Clients;
}
