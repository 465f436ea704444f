import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ClusterInProcess } from "../../../test/contract/cluster-in-process.ts";
import { bodyText, put } from "../../../test/contract/store-commands.ts";
import type { Revision } from "../../api/revision.ts";
import { CompactedError } from "../store.ts";
import { openReplica } from "./open-replica.ts";
import { prepareMember } from "./prepare-replica.ts";
import { recoverReplica } from "./recover-replica.ts";
import { inspectImage, restoreReplica } from "./restore-replica.ts";

const root = mkdtempSync(join(tmpdir(), "quorate-disaster-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
const newPath = () => join(root, String(++made));
const key = (at: number) => `/registry/configmaps/default/c${at}`;

async function openAlone(directory: string) {
  const replica = await openReplica({ directory });
  await replica.store.readBarrier();
  return replica;
}

async function* parts(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("from one survivor", () => {
  test("a cluster continues with all data of the survivor and accepts new members", async () => {
    const path = newPath();
    mkdirSync(path);
    const cluster = await ClusterInProcess.start(path, 3);
    const { store } = await cluster.leader();
    for (let at = 0; at < 20; at++) await store.commit(put(key(at), `v${at}`));
    const survivor = cluster.follower();
    const { self } = survivor.cluster;
    await survivor.store.waitFor(store.revision, 5_000);
    const { revision } = store;
    await cluster[Symbol.asyncDispose]();

    const directory = join(path, `member-${self}`);
    const recovered = await recoverReplica(directory);
    expect(recovered).toMatchObject({ self, forgotten: [1, 2, 3].filter((id) => id !== self) });
    // The second call finds no other member to forget.
    expect(await recoverReplica(directory)).toMatchObject({ self, forgotten: [] });

    const alone = await openAlone(directory);
    expect(alone.store.revision).toBe(revision);
    for (let at = 0; at < 20; at++) expect(bodyText(alone.store.get(key(at)))).toContain(`v${at}`);
    expect(alone.cluster.members().map(({ id }) => id)).toEqual([self]);
    expect(alone.cluster.status()).toMatchObject({ role: "leader", self });
    await alone.store.commit(put(key(99), "after"));
    const newcomer = { name: "new", peerAddress: "127.0.0.1:9", clientUrl: "https://127.0.0.1:9" };
    expect((await alone.cluster.addLearner(newcomer)).id).toBe(4);
    await alone.store.close();
    const again = await openAlone(directory);
    expect(bodyText(again.store.get(key(99)))).toContain("after");
    await again.store.close();
  });

  test("a member that joined and has no state yet cannot be recovered", async () => {
    const directory = newPath();
    const seeds = [{ id: 1, name: "a", peerAddress: "127.0.0.1:1", clientUrl: "https://127.0.0.1:1" }];
    await prepareMember(directory, { clusterId: "c", id: 2, seeds });
    await expect(recoverReplica(directory)).rejects.toThrow(/there is no log|has not received any state/);
    const { store } = await openReplica({ directory });
    await store.close();
    await expect(recoverReplica(directory)).rejects.toThrow(/has not received any state yet; choose/);
  });

  test("a directory without a replica, or a running member, cannot be recovered", async () => {
    const empty = newPath();
    await expect(recoverReplica(empty)).rejects.toThrow(/holds no replica/);
    const directory = newPath();
    const running = await openAlone(directory);
    await expect(recoverReplica(directory)).rejects.toThrow(/is using it/);
    await running.store.close();
  });
});

describe("a snapshot", () => {
  async function snapshot() {
    const { store, cluster } = await openAlone(newPath());
    for (let at = 0; at < 50; at++) await store.commit(put(key(at), `v${at}`));
    await store.commit(put(key(7), "newer"));
    using image = await cluster.image();
    const bytes = Buffer.concat(await Array.fromAsync(image.chunks));
    const { revision, size } = store;
    await store.close();
    return { bytes, revision, size, clusterId: cluster.clusterId };
  }

  test("is restored as a new cluster whose revisions continue above those that clients may know", async () => {
    const { bytes, revision, size, clusterId } = await snapshot();
    const directory = newPath();
    const restored = await restoreReplica({ directory, chunks: parts(bytes), revisionGap: 1_000 });
    expect(restored).toEqual({ clusterId: expect.any(String), revision: revision + 1_000, objects: size });
    expect(restored.clusterId).not.toBe(clusterId);
    const { store, cluster } = await openAlone(directory);
    expect(store.revision).toBe((revision + 1_000) as Revision);
    expect(cluster.members()).toEqual([]);
    expect(bodyText(store.get(key(7)))).toContain("newer");
    expect(store.scan("/registry/")).toHaveLength(size);
    await expect(store.eventsAfter(revision, { prefix: "/registry/", limit: 9 })).rejects.toThrow(CompactedError);
    const result = await store.commit(put(key(60), "after"));
    expect(result).toMatchObject({ kind: "applied", revision: revision + 1_001 });
    await store.close();
    const again = await openAlone(directory);
    expect(again.store.revision).toBe((revision + 1_001) as Revision);
    await again.store.close();
  });

  test("can be inspected", async () => {
    const { bytes, revision, size, clusterId } = await snapshot();
    expect(await inspectImage(parts(bytes))).toMatchObject({ clusterId, record: { revision, size } });
  });

  test("is rejected when it is truncated or damaged, and leaves nothing behind", async () => {
    const { bytes } = await snapshot();
    await expect(inspectImage(parts(bytes.subarray(0, -1)))).rejects.toThrow(/ends too early/);
    for (const at of [0, 20, bytes.length >> 1, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      await expect(inspectImage(parts(damaged))).rejects.toThrow();
    }
    const directory = newPath();
    const chunks = parts(bytes.subarray(0, -1));
    await expect(restoreReplica({ directory, chunks, revisionGap: 0 })).rejects.toThrow(/ends too early/);
    expect(existsSync(directory)).toBe(false);
    expect(readdirSync(dirname(directory)).filter((name) => name.includes("restoring"))).toEqual([]);
    await restoreReplica({ directory, chunks: parts(bytes), revisionGap: 0 });
    await expect(restoreReplica({ directory, chunks: parts(bytes), revisionGap: 0 })).rejects.toThrow(/already/);
  });

  test("is not restored over existing data", async () => {
    const { bytes } = await snapshot();
    const foreign = newPath();
    mkdirSync(foreign, { mode: 0o700 });
    writeFileSync(join(foreign, "letter.txt"), "mine");
    await expect(restoreReplica({ directory: foreign, chunks: parts(bytes), revisionGap: 0 })).rejects.toThrow(
      /letter.txt/,
    );
  });
});
