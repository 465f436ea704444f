import { describe, expect, test } from "bun:test";
import { bid, endMs, type LeaseRecord, observe, recordOf, released, withRecord } from "./lease-record.ts";

const candidate = { identity: "me", leaseDurationMs: 15_000 };
const timeMs = Date.UTC(2026, 0, 2);
const time = "2026-01-02T00:00:00.000000Z";
const earlier = "2026-01-01T00:00:00.000000Z";

function held(holderIdentity: string, more: Partial<LeaseRecord> = {}): LeaseRecord {
  const times = { acquireTime: earlier, renewTime: earlier };
  return { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: 4, ...times, ...more };
}

const mine = { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: time };

describe("a candidate that first saw the record at 1000", () => {
  test.each<[string, LeaseRecord | undefined, number, LeaseRecord | undefined]>([
    ["makes a lease that is not there", undefined, 1_000, { ...mine, acquireTime: time, leaseTransitions: 0 }],
    ["renews its own", held("me"), 1_000, { ...mine, acquireTime: earlier, leaseTransitions: 4 }],
    ["renews its own though it is over", held("me"), 90_000, { ...mine, acquireTime: earlier, leaseTransitions: 4 }],
    ["leaves a held one alone, however old its times are", held("other"), 15_999, undefined],
    [
      "takes one that has not changed for its duration",
      held("other"),
      16_000,
      { ...mine, acquireTime: time, leaseTransitions: 5 },
    ],
    ["takes a released one at once", held(""), 1_000, { ...mine, acquireTime: time, leaseTransitions: 5 }],
    [
      "goes by the duration that the holder has written",
      held("other", { leaseDurationSeconds: 60 }),
      60_999,
      undefined,
    ],
    [
      "leaves one alone that is renewed in the future",
      held("other", { renewTime: "2099-01-01T00:00:00.000000Z" }),
      15_999,
      undefined,
    ],
    [
      "takes one without a duration",
      held("other", { leaseDurationSeconds: 0 }),
      1_000,
      { ...mine, acquireTime: time, leaseTransitions: 5 },
    ],
  ])("%s", (_, record, nowMs, written) => {
    const observed = record === undefined ? undefined : observe(undefined, record, 1_000);
    expect(bid(candidate, observed, nowMs, timeMs)).toEqual(written as LeaseRecord);
  });
});

test.each<[string, Partial<LeaseRecord>, number]>([
  ["that says the same was first seen when it was", {}, 1_000],
  ["that was renewed is new", { renewTime: time }, 5_000],
  ["that changed its holder is new", { holderIdentity: "third" }, 5_000],
])("a record %s", (_, change, sinceMs) => {
  const first = observe(undefined, held("other"), 1_000);
  const second = observe(first, held("other", change), 5_000);
  expect(second.sinceMs).toBe(sinceMs);
  expect(endMs(second)).toBe(sinceMs + 15_000);
});

test("a released lease has no holder, ends at once, and keeps its count", () => {
  const record = released(held("me"), timeMs);
  expect(record).toEqual({
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 4,
  });
  const lease = withRecord(
    { kind: "Lease", apiVersion: "v1", metadata: {}, spec: { holderIdentity: "me", strategy: "x/y" } },
    record,
  );
  expect(lease["spec"]).toEqual({
    strategy: "x/y",
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 4,
  });
  expect(recordOf(lease)).toEqual(record);
});

test("an empty Lease has no holder", () => {
  const record = recordOf({ kind: "Lease", apiVersion: "v1", metadata: {} });
  expect(bid(candidate, observe(undefined, record, 0), 0, timeMs)?.leaseTransitions).toBe(1);
});
