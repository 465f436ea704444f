import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import type { ReplicaEvent } from "../storage/replicated/open-replica.ts";

/** Interval at which continuing trouble is reported again. */
const repeatMs = 60_000;
/** Maximum number of pairs of member and reason that are remembered as reported. */
const toldMax = 1_000;

/**
 * Logs events between a replica and the others. Attempts to connect are frequent, so each kind of trouble is reported
 * once a minute.
 */
export function replicaNotices(log: Log, clock: Clock): (event: ReplicaEvent) => void {
  const told = new Map<string, number>();
  const isDue = (key: string) => {
    const nowMs = clock.steadyMs();
    if (nowMs - (told.get(key) ?? Number.NEGATIVE_INFINITY) < repeatMs) return false;
    if (told.size >= toldMax) told.clear();
    told.set(key, nowMs);
    return true;
  };
  return (event) => {
    switch (event.kind) {
      case "leader":
        return log.info(event.leader === undefined ? "no leader" : "leader elected", {
          leader: event.leader,
          term: event.term,
        });
      case "stalled":
        return log.warn("a part of this member stalled", { part: event.what, ms: Math.round(event.ms) });
      case "refused":
        if (!isDue(`${event.member} ${event.reason}`)) return;
        return log.warn("this member and another one cannot communicate", {
          member: event.member,
          reason: event.reason,
        });
      case "violated":
        if (!isDue(`${event.member} ${event.error.message}`)) return;
        return log.warn("a peer sent a message that violates the protocol", event);
      case "failed":
        return log.error("the store failed and takes no more writes", { error: event.error });
      case "removed":
        return log.warn("this member was removed from the cluster");
    }
  };
}
