import { expect, test } from "bun:test";
import { put } from "../../../test/contract/store-commands.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import type { Expect, Store } from "../store.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError, type EtcdErrorKind } from "./client/etcd-error.ts";
import type { EtcdMirror } from "./etcd-mirror.ts";
import { EtcdWriter } from "./etcd-writer.ts";
import { LeaseManager } from "./lease-manager.ts";
import { MirrorObjects } from "./mirror-objects.ts";
import { PendingWrites } from "./pending-writes.ts";
import { SameEtcd } from "./same-etcd.ts";
import { plainLayout } from "./testing.ts";

const key: Key = "/registry/pods/default/a";
const entry = { key } as Entry;

/**
 * Returns a writer on an etcd whose transactions fail.
 * @param arrives called with the bytes of each of them
 * @param kind the failure of the first one
 */
function setUp(
  arrives: (value: Uint8Array, pending: PendingWrites) => void = () => undefined,
  kind: EtcdErrorKind = "interrupted",
  premiseStore?: Pick<Store, "get">,
) {
  const pending = new PendingWrites();
  const sent: unknown[] = [];
  const client = {
    call: async (_method: unknown, request: { success: readonly { put: { value: Uint8Array } }[] }) => {
      sent.push(request);
      arrives((request.success[0] as { put: { value: Uint8Array } }).put.value, pending);
      // The second attempt ends the test of a write that is sent again.
      throw sent.length === 1 ? new EtcdError(kind, "no answer") : new EtcdError("denied", "enough");
    },
    repeat: async () => ({ header: { clusterId: 1, memberId: 1, revision: 5 } }),
    pause: async () => undefined,
  } as unknown as EtcdClient;
  const clock = systemClock;
  const leases = new LeaseManager({ client, clock, reuseMs: 0 });
  const mirror = { objects: new MirrorObjects(toRevision(4)) } as EtcdMirror;
  const parts = { client, layout: plainLayout, mirror, pending, leases, clock, reached: async () => true };
  return { sent, writer: new EtcdWriter({ ...parts, premiseStore, same: new SameEtcd(() => undefined) }) };
}

test.each<Expect>([{ kind: "absent" }, { kind: "any" }])(
  "an uncertain write is not sent again: %j",
  async (expected) => {
    const { writer, sent } = setUp();
    // The first attempt may still be on its way, and would undo a deletion that follows the second one.
    await expect(writer.write(put(key, "1", { expect: expected }))).rejects.toMatchObject({ outcome: "unknown" });
    expect(sent).toHaveLength(1);
  },
);

test("a write with the guard of a revision is sent again", async () => {
  const { writer, sent } = setUp();
  const expected = { kind: "revision", revision: toRevision(4) } as const;
  await expect(writer.write(put(key, "1", { expect: expected }))).rejects.toMatchObject({ outcome: "unknown" });
  expect(sent).toHaveLength(2);
});

test("an uncertain creation is done if the watch shows it", async () => {
  const { writer, sent } = setUp((value, pending) => {
    pending.record(key, { revision: toRevision(5), value, isCreation: true, entry });
  });
  const done = await writer.write(put(key, "1", { expect: { kind: "absent" } }));
  expect(done).toMatchObject({ kind: "applied", revision: 5, entry });
  expect(sent).toHaveLength(1);
});

test("a write that finds the database full is done if the watch shows it", async () => {
  const { writer } = setUp((value, pending) => {
    pending.record(key, { revision: toRevision(5), value, isCreation: true, entry });
  }, "noSpace");
  const done = await writer.write(put(key, "1", { expect: { kind: "absent" } }));
  expect(done).toMatchObject({ kind: "applied", revision: 5, entry });
});

test("a write that finds the database full is not done if the watch does not show it", async () => {
  const { writer, sent } = setUp(undefined, "noSpace");
  await expect(writer.write(put(key, "1", { expect: { kind: "absent" } }))).rejects.toMatchObject({
    outcome: "notDone",
  });
  expect(sent).toHaveLength(1);
});

test("premises in another etcd are looked up there, and are not part of the transaction", async () => {
  const namespace = "/registry/namespaces/default" as Key;
  const elsewhere = { get: (at: Key) => (at === namespace ? ({ revision: toRevision(9) } as Entry) : undefined) };
  const { writer, sent } = setUp(undefined, "denied", elsewhere);
  const command = (revision: number) => ({
    ...put(key, "1", { expect: { kind: "absent" } }),
    premises: [{ key: namespace, revision: toRevision(revision) }],
  });
  expect(await writer.write(command(8))).toEqual({ kind: "outdated" });
  expect(sent).toEqual([]);
  await expect(writer.write(command(9))).rejects.toMatchObject({ outcome: "notDone" });
  expect(sent).toMatchObject([{ compare: [{ key }] }]);
});
