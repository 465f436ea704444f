import type { MemberId } from "../../core/ids.ts";
import type { Machine } from "./machine.ts";
import type { Audience, SimMember } from "./sim-member.ts";
import type { World } from "./world.ts";

/** Whoever uses a simulated cluster, and judges what it answers. */
export interface Clients extends Audience {
  readonly readsServed: number;
  /** Everything that was asked is answered. */
  readonly isIdle: boolean;
  /** Who has served a read since the last phase began. */
  readonly servedBy: ReadonlySet<MemberId>;
  /** One client goes on, at one of these members; it asks for nothing new unless it `mayBegin`. */
  turn(client: number, members: readonly SimMember[], mayBegin: boolean): void;
  read(member: SimMember): void;
  beginCalm(): void;
  forgetOldReads(): void;
  /** After everything that happens at one moment. @throws Violation */
  settled?(): void;
  /** When the cluster is at rest. @throws Violation when something is not as its clients were told */
  checkEnd(machine: Machine | undefined): void;
}

/** What a simulation runs on its cluster. */
export interface Application {
  /** A proposal may arrive twice, which transports promise not to let happen; it minds neither. */
  readonly repeatsProposals?: boolean;
  newMachine(): Machine;
  clients(world: World): Clients;
}
