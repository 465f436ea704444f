import { expect, test } from "bun:test";
import { parseEvictionThresholds } from "../node/eviction-thresholds.ts";
import { evictionLimits } from "./eviction-limits.ts";
import { evictionText } from "./eviction-message.ts";
import { mebibyte, podOf, usageOf } from "./testing.ts";

const shortageOf = (text: string, available: number, capacity: number) =>
  evictionLimits({ hard: parseEvictionThresholds(text) }).map((limit) => ({ limit, available, capacity }));

test("names the threshold, and the containers above their requests", () => {
  const shortages = shortageOf("memory.available<100Mi", 50 * mebibyte, 8192 * mebibyte);
  expect(evictionText(podOf("p", { memory: "10Mi" }), usageOf(64 * mebibyte), shortages)).toEqual({
    message:
      "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. " +
      "Container main was using 64Mi, request is 10Mi, has larger consumption of memory. ",
    annotations: {
      offending_containers: "main",
      offending_containers_usage: "64Mi",
      starved_resource: "memory",
    },
  });
});

test("blames no container within its request, and none of a pod that was not measured", () => {
  const shortages = shortageOf("nodefs.inodesFree<5%", 4, 100);
  const begin = "The node was low on resource: inodes. Threshold quantity: 5, available: 4. ";
  expect(evictionText(podOf("p"), usageOf(0), shortages)).toEqual({
    message: begin,
    annotations: { offending_containers: "", offending_containers_usage: "", starved_resource: "inodes" },
  });
  expect(evictionText(podOf("p"), undefined, shortages)).toEqual({ message: begin, annotations: {} });
});

test("tells a pod's own request and use of storage", () => {
  const disk = { bytes: 3 * mebibyte, inodes: 1 };
  const shortages = shortageOf("nodefs.available<10%", mebibyte, 100 * mebibyte);
  expect(evictionText(podOf("p"), usageOf(0, disk), shortages).message).toBe(
    "The node was low on resource: ephemeral-storage. Threshold quantity: 10Mi, available: 1Mi. " +
      "Container main was using 3Mi, request is 0, has larger consumption of ephemeral-storage. ",
  );
  const pod = podOf("p", { memory: "1Gi" }, { resources: { requests: { memory: "2Mi" } } });
  const memory = shortageOf("memory.available<1Gi", mebibyte, 2);
  const { message, annotations } = evictionText(pod, usageOf(3 * mebibyte), memory);
  expect(message).toContain("Pod p was using 3Mi, request is 2Mi, has larger consumption of memory. ");
  expect(annotations).toMatchObject({ offending_pod: "p", offending_pod_usage: "3Mi" });
});
