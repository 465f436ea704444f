import { expect, test } from "bun:test";
import { systemClock } from "../process/clock.ts";
import { openLog } from "../process/logs.ts";
import { replicaNotices } from "./replica-notices.ts";

test("each kind of trouble with a member is reported once a minute", async () => {
  const lines: any[] = [];
  const log = await openLog({ pretty: false, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  let steadyMs = 0;
  const notice = replicaNotices(log, { ...systemClock, steadyMs: () => steadyMs });
  for (let at = 0; at < 100; at++) {
    notice({ kind: "refused", member: 2, reason: "unknown" });
    notice({ kind: "violated", member: undefined, error: new Error("garbage") });
    steadyMs += 500;
  }
  expect(lines.map(({ msg }) => msg)).toEqual([
    "this member and another one cannot communicate",
    "a peer sent a message that violates the protocol",
  ]);
  steadyMs += 60_000;
  notice({ kind: "refused", member: 2, reason: "unknown" });
  notice({ kind: "removed" });
  expect(lines.map(({ msg }) => msg).slice(2)).toEqual([
    "this member and another one cannot communicate",
    "this member was removed from the cluster",
  ]);
});
