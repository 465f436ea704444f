import { describe, expect, test } from "bun:test";
import type { SharedSecrets } from "../access/certificates/shared-secrets.ts";
import type { UserInfo } from "../request/user-info.ts";
import { ClusterError } from "../storage/cluster.ts";
import { admitMember } from "./admit-member.ts";
import { FakeCluster } from "./testing.ts";

const machine = { name: "b", peerAddress: "10.0.0.2:7380", clientUrl: "https://10.0.0.2:6443" };
const user = { name: "system:bootstrap:abcdef" } as UserInfo;

/** Returns secrets that are first available and then being replaced. */
function secretsOnce(): () => SharedSecrets {
  let looks = 0;
  return () => {
    if (++looks > 1) throw new ClusterError("conflict", "it is being replaced: wait until that is done");
    return {} as SharedSecrets;
  };
}

function admission(cluster: FakeCluster, member?: number) {
  const token = { id: "abcdef", description: "", expiration: "", member } as never;
  return { cluster, tokens: { find: () => token, consume: async () => true }, secrets: secretsOnce() };
}

describe("a machine that joins while the authority is being replaced", () => {
  test("is rejected and leaves no record, so that it can join later under the same name", async () => {
    const cluster = new FakeCluster();
    const admitted = admitMember(admission(cluster), machine, user);
    await expect(admitted).rejects.toThrow(/: wait until that is done$/);
    expect(cluster.members().map(({ name }) => name)).toEqual(["a"]);
  });

  test("prints instructions when its record cannot be removed", async () => {
    const cluster = new FakeCluster();
    cluster.remove = () => Promise.reject(new ClusterError("busy", "another change is under way"));
    const admitted = admitMember(admission(cluster), machine, user);
    await expect(admitted).rejects.toThrow(
      /done, and "quorate member remove 2" before the machine joins with a new token/,
    );
  });

  test("keeps its record when an administrator made it, and its token is used up", async () => {
    const cluster = new FakeCluster();
    const { id } = await cluster.addLearner(machine);
    const admitted = admitMember(admission(cluster, id), machine, user);
    await expect(admitted).rejects.toThrow(/done, and "quorate member remove 2" before/);
    expect(cluster.members()).toHaveLength(2);
  });
});
