import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchCluster } from "../bench/cluster.ts";
import { FailoverLoad } from "../bench/failover-load.ts";
import type { MemberProcess } from "./member-process.ts";

/** Tests that clients of three members notice only short interruptions when members fail. */

const root = mkdtempSync(join(tmpdir(), "quorate-failover-"));
let cluster: BenchCluster;
let load: FailoverLoad;

beforeAll(async () => {
  cluster = await BenchCluster.start({ directory: root, members: 3 });
  const [first] = cluster.members as [MemberProcess];
  const endpoints = cluster.members.map(({ url }) => url);
  load = new FailoverLoad({ endpoints, token: first.token, writers: 8, readers: 4, watchers: 6 });
  await load.start();
}, 60_000);

afterAll(async () => {
  load[Symbol.dispose]();
  await cluster[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

describe("writers, readers and watchers of three members go on", () => {
  test("when the leadership is handed over", async () => {
    const leader = await cluster.leader();
    const [heir] = cluster.members.filter((member) => member !== leader) as [MemberProcess];
    await cluster.transfer(heir);
    await load.everybodySees();
    expect(await cluster.leader()).toBe(heir);
  });

  test("when each member is restarted, one after the other", async () => {
    for (const member of cluster.members) {
      await member.stop("SIGTERM");
      await load.everybodySees();
      await member.start(["up"]);
      await cluster.settled();
      load.goHome();
    }
  });

  test("when the leader is killed, and when it is stopped and later continued", async () => {
    const killed = await cluster.leader();
    await killed.stop("SIGKILL");
    await load.everybodySees();
    await killed.start(["up"]);
    await cluster.settled();
    const stopped = await cluster.leader();
    stopped.signal("SIGSTOP");
    await load.everybodySees();
    stopped.signal("SIGCONT");
    await cluster.settled();
  });

  test("and nothing is lost, stale, missing, repeated or out of order, and no read has failed", async () => {
    const totals = await load.finish();
    expect(totals.writes).toBeGreaterThan(0);
    expect(totals.events).toBeGreaterThan(totals.writes);
    expect(totals).toMatchObject({
      lostWrites: 0,
      staleReads: 0,
      failedReads: 0,
      misplacedEvents: 0,
      missingEvents: 0,
      relists: 0,
    });
  });
});
