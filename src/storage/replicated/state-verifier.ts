import type { Clock } from "../../process/clock.ts";
import type { LeaderWatch } from "./leader-watch.ts";
import type { Proposer } from "./proposer.ts";
import type { ReplicaState } from "./replica-state.ts";

/** So often, while objects change, all replicas compare what they hold. */
const verifyIntervalMs = 5_000;

export interface StateVerifierParts {
  readonly clock: Clock;
  readonly state: Pick<ReplicaState, "objects" | "index">;
  readonly leader: LeaderWatch;
  readonly proposer: Proposer;
}

/** Has the leader tell the others what its state was at an index of the log: whoever had another one fails. */
export function verifyStates({ clock, state, leader, proposer }: StateVerifierParts): Disposable {
  let verified = state.objects.revision;
  return clock.every(verifyIntervalMs, () => {
    const { revision, hash } = state.objects;
    if (!leader.isLeader || leader.isAlone || revision === verified) return;
    verified = revision;
    // One that is lost is followed by others.
    proposer.decide({ kind: "verify", index: state.index, revision, hash }).catch(() => undefined);
  });
}
