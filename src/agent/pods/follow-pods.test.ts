import { expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { type FollowPodsOptions, followPods } from "./follow-pods.ts";
import type { PodManager } from "./pod-manager.ts";

const podOn = (nodeName: string, name: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: "n",
    uid: name,
    resourceVersion: "1",
    annotations: { "kubernetes.io/config.source": "file" },
  },
  spec: { containers: [], nodeName },
});

test("each node is told of all its pods together, and then of changes", async () => {
  const calls: string[] = [];
  const managerOf = (node: string) =>
    ({
      podsListed: (pods: readonly Pod[]) => calls.push(`${node} listed ${pods.map(({ metadata }) => metadata.name)}`),
      podChanged: ({ metadata }: Pod) => calls.push(`${node} changed ${metadata.name}`),
      podGone: ({ metadata }: Pod) => calls.push(`${node} gone ${metadata.name}`),
    }) as unknown as PodManager;
  const items = [podOn("node-1", "a"), podOn("node-2", "b"), podOn("node-1", "c")];
  const changed = { ...podOn("node-1", "a"), metadata: { ...podOn("node-1", "a").metadata, resourceVersion: "2" } };
  const client = {
    list: async () => ({ items, metadata: { resourceVersion: "1" } }),
    async *watch() {
      yield { type: "MODIFIED", object: changed };
      yield { type: "DELETED", object: podOn("node-2", "b") };
      await new Promise(() => undefined);
    },
  } as unknown as FollowPodsOptions["client"];
  const clock = new ManualClock();
  const onError = (error: unknown) => calls.push(String(error));
  using followed = followPods({ client, clock, random: () => 0, managerOf, onError });
  await followed.synced;
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(calls).toEqual(["node-1 listed a,c", "node-2 listed b", "node-1 changed a", "node-2 gone b"]);
  expect(items[0]?.metadata.annotations).toEqual({ "kubernetes.io/config.source": "api" });
});
