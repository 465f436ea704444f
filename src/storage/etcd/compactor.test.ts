import { expect, test } from "bun:test";
import { put } from "../../../test/contract/store-commands.ts";
import { EtcdMember, hasEtcd } from "../../../test/etcd/etcd-member.ts";
import type { Revision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { methods, numberOf } from "./client/messages.ts";
import { compactKey } from "./compacted-mark.ts";
import { Compactor } from "./compactor.ts";
import { openTestStore } from "./testing.ts";

if (hasEtcd("compactor.test.ts")) {
  test("of two servers one compacts, one interval late, and both know it", async () => {
    await using member = await EtcdMember.start();
    const servers = [await openTestStore([member.url]), await openTestStore([member.url])] as const;
    const failed: unknown[] = [];
    const [one, two] = servers.map(
      ({ client, store }) =>
        new Compactor({
          client,
          clock: systemClock,
          intervalMs: 60_000,
          compact: (revision) => store.compact(revision as Revision),
          onError: (error) => failed.push(error),
        }),
    ) as [Compactor, Compactor];
    const [{ store: first, client }, { store: second }] = servers;
    const history: number[] = [];
    for (let round = 0; round < 3; round++) {
      await first.commit(put("/registry/pods/default/a", `${round}`));
      await one.attempt();
      await two.attempt();
      await second.readBarrier();
      history.push(second.compactedRevision);
      expect(await second.waitFor(first.revision, 5_000)).toBe(true);
    }
    expect(history[0]).toBe(1);
    expect(history[2]).toBeGreaterThan(history[1] as number);
    expect(first.compactedRevision).toBe(second.compactedRevision);
    const { kvs } = await client.call(methods.range, { key: compactKey }, 5_000);
    expect(kvs.map(({ value, version }) => [Buffer.from(value).toString(), numberOf(version)])).toEqual([
      [String(first.compactedRevision), 3],
    ]);
    expect(failed).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });
}
