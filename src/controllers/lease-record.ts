import { formatMicroTime } from "../api/time.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** What the Lease of an election says. Times are RFC 3339 in microseconds, by the clock of whoever wrote them. */
export interface LeaseRecord {
  /** Empty: nobody holds it. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

/**
 * A record, and when this candidate first saw it as it is, by its own steady clock. That and nothing else tells when it
 * is over: the times in the record are of another machine, whose clock may be wrong.
 */
export interface Observation {
  readonly record: LeaseRecord;
  readonly sinceMs: number;
}

export interface Candidate {
  readonly identity: string;
  readonly leaseDurationMs: number;
}

export function recordOf({ spec }: KubeObject): LeaseRecord {
  const fields = (spec ?? {}) as Partial<LeaseRecord>;
  return {
    holderIdentity: fields.holderIdentity ?? "",
    leaseDurationSeconds: fields.leaseDurationSeconds ?? 0,
    acquireTime: fields.acquireTime ?? "",
    renewTime: fields.renewTime ?? "",
    leaseTransitions: fields.leaseTransitions ?? 0,
  };
}

/** The Lease with another record; what else it says is left alone. */
export function withRecord(lease: KubeObject, record: LeaseRecord): KubeObject {
  const { holderIdentity: _holder, ...spec } = (lease["spec"] ?? {}) as JsonObject;
  const { holderIdentity, ...rest } = record;
  return { ...lease, spec: { ...spec, ...(holderIdentity === "" ? {} : { holderIdentity }), ...rest } };
}

/** What is known after `record` was read: one that says the same as before has not been renewed. */
export function observe(before: Observation | undefined, record: LeaseRecord, nowMs: number): Observation {
  return before !== undefined && isSame(before.record, record) ? before : { record, sinceMs: nowMs };
}

/** When a record that does not change any more ceases to hold. */
export function endMs({ record, sinceMs }: Observation): number {
  return sinceMs + 1_000 * record.leaseDurationSeconds;
}

/**
 * What the candidate has to write to become the leader or to stay it; undefined while somebody else is.
 * @param nowMs by the candidate's steady clock, as in the observation
 * @param timeMs since the epoch, for people to read
 */
export function bid(
  { identity, leaseDurationMs }: Candidate,
  observed: Observation | undefined,
  nowMs: number,
  timeMs: number,
): LeaseRecord | undefined {
  const renewTime = formatMicroTime(timeMs);
  const leaseDurationSeconds = Math.max(1, Math.floor(leaseDurationMs / 1_000));
  const mine = { holderIdentity: identity, leaseDurationSeconds, acquireTime: renewTime, renewTime };
  if (observed === undefined) return { ...mine, leaseTransitions: 0 };
  const { holderIdentity, acquireTime, leaseTransitions } = observed.record;
  if (holderIdentity === identity) return { ...mine, acquireTime, leaseTransitions };
  if (holderIdentity !== "" && nowMs < endMs(observed)) return undefined;
  return { ...mine, leaseTransitions: leaseTransitions + 1 };
}

/** What a leader leaves behind that goes: the next one need not wait. */
export function released({ leaseTransitions }: LeaseRecord, timeMs: number): LeaseRecord {
  const now = formatMicroTime(timeMs);
  return { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}

function isSame(a: LeaseRecord, b: LeaseRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseDurationSeconds === b.leaseDurationSeconds &&
    a.leaseTransitions === b.leaseTransitions
  );
}
