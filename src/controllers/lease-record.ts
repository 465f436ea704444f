import type { KubeObject } from "../api/object-meta.ts";
import { formatMicroTime } from "../api/time.ts";
import type { Lease } from "../api/types/coordination-v1.ts";

/** The record of an election in its Lease. Times are RFC 3339 with microseconds, by the writer's clock. */
export interface LeaseRecord {
  /** Holder; empty for none. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

/**
 * A record and the time when this candidate first saw it, by its own steady clock. Only that time decides when the lease
 * ends, because the record's times are from another machine whose clock may be wrong.
 */
export interface Observation {
  readonly record: LeaseRecord;
  readonly sinceMs: number;
}

export interface Candidate {
  readonly identity: string;
  readonly leaseDurationMs: number;
}

export function recordOf(lease: KubeObject): LeaseRecord {
  const fields = (lease as Lease).spec ?? {};
  return {
    holderIdentity: fields.holderIdentity ?? "",
    leaseDurationSeconds: fields.leaseDurationSeconds ?? 0,
    acquireTime: fields.acquireTime ?? "",
    renewTime: fields.renewTime ?? "",
    leaseTransitions: fields.leaseTransitions ?? 0,
  };
}

/** Returns the Lease with another record and its other fields unchanged. */
export function withRecord(lease: KubeObject, record: LeaseRecord): KubeObject {
  const { holderIdentity: _holder, ...spec } = (lease as Lease).spec ?? {};
  const { holderIdentity, ...rest } = record;
  return { ...lease, spec: { ...spec, ...(holderIdentity === "" ? {} : { holderIdentity }), ...rest } };
}

/** Returns the observation after `record` was read. An unchanged record was not renewed. */
export function observe(before: Observation | undefined, record: LeaseRecord, nowMs: number): Observation {
  return before !== undefined && isSame(before.record, record) ? before : { record, sinceMs: nowMs };
}

/** Returns the end of a record that is not renewed. */
export function endMs({ record, sinceMs }: Observation): number {
  return sinceMs + 1_000 * record.leaseDurationSeconds;
}

/**
 * Returns the record with which the candidate becomes or stays the leader, or undefined if another one leads.
 * @param nowMs time of the candidate's steady clock, as in the observation
 * @param timeMs milliseconds since the epoch, for people
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

/** Returns the record of a stopping leader, which lets the next one lead at once. */
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
