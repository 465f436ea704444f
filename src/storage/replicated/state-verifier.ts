import type { Clock } from "../../process/clock.ts";
import type { LeaderWatch } from "./leader-watch.ts";
import type { Proposer } from "./proposer.ts";
import type { ReplicaState } from "./replica-state.ts";

/** Interval at which all replicas compare their states while objects change. */
const verifyIntervalMs = 5_000;

export interface StateVerifierParts {
  readonly clock: Clock;
  readonly state: Pick<ReplicaState, "objects" | "index">;
  readonly leader: LeaderWatch;
  readonly proposer: Proposer;
}

/** Makes the leader propose the hash of its state at a log index. A replica with another hash fails. */
export function verifyStates({ clock, state, leader, proposer }: StateVerifierParts): Disposable {
  let verified = state.objects.revision;
  return clock.every(verifyIntervalMs, () => {
    const { revision, hash } = state.objects;
    if (!leader.isLeader || leader.isAlone || revision === verified) return;
    verified = revision;
    // Ignore a lost comparison, because others follow.
    proposer.decide({ kind: "verify", index: state.index, revision, hash }).catch(() => undefined);
  });
}
