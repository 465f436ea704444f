import type { Entry as LogRecord } from "../../raft/core/entry.ts";
import type { Index, MemberId, RequestId, Term } from "../../raft/core/ids.ts";
import type { ReadOutcome } from "../../raft/core/message.ts";
import type { Ready } from "../../raft/core/ready.ts";
import type { Machine } from "../../raft/testing/simulator/machine.ts";
import type { Audience, Process, SimMember } from "../../raft/testing/simulator/sim-member.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import type { CacherLimits } from "../../src/storage/cacher/limits.ts";
import type { Mutation } from "./mutation.ts";
import { Replica } from "./replica.ts";
import type { ReplicaMachine } from "./replica-machine.ts";
import type { ServingTraits } from "./serving-processes.ts";

export interface ReplicaAudienceOptions {
  readonly world: World;
  readonly mutation?: Mutation | undefined;
  readonly limits: Partial<CacherLimits>;
  /** Traits of the serving processes, if there are any. */
  readonly serving?: ServingTraits | undefined;
  /** Maximum error of the date of a machine; an hour by default. */
  readonly skewMsMax?: number;
  /** Reports that the entry promised at this place will not happen. */
  readonly dropped: (index: Index, term: Term) => void;
}

/** Keeps a replica for every process of a member, and passes on to it what happens to the process. */
export class ReplicaAudience implements Audience {
  readonly #options: ReplicaAudienceOptions;
  readonly #replicas = new Map<MemberId, Replica>();
  #requests = 0;

  constructor(options: ReplicaAudienceOptions) {
    this.#options = options;
  }

  of(id: MemberId): Replica | undefined {
    return this.#replicas.get(id);
  }

  started(member: SimMember, process: Process): void {
    const nextId = () => ++this.#requests as RequestId;
    const { mutation, serving } = this.#options;
    this.#replicas.set(member.id, new Replica({ ...this.#options, mutation, serving, member, process, nextId }));
  }

  stopped({ id }: SimMember): void {
    this.#replicas.get(id)?.lost();
    this.#replicas.delete(id);
  }

  readAnswered({ id: member }: SimMember, id: RequestId, outcome: ReadOutcome): void {
    this.#replicas.get(member)?.node.readAnswered(id, outcome);
  }

  handedOut({ id }: SimMember, ready: Ready): void {
    this.#replicas.get(id)?.handedOut(ready);
  }

  stateAdvanced({ id }: SimMember, entries: readonly LogRecord[]): void {
    this.#replicas.get(id)?.applied(entries);
  }

  installed({ id }: SimMember, replaced: Machine): void {
    this.#replicas.get(id)?.installed(replaced as ReplicaMachine);
  }
}
