import { expect, test } from "bun:test";
import { type Candidate, rankPods } from "./rank-pods.ts";
import { mebibyte, podOf, usageOf } from "./testing.ts";

const names = (candidates: readonly Candidate[]) => candidates.map(({ pod }) => pod.metadata.name);

test("memory: pods above their request go first, those of a low priority before others, and large ones before small", () => {
  const pod = (name: string, usedMi: number, request = "0", priority = 0) => ({
    pod: podOf(name, { memory: request }, { priority }),
    usage: usageOf(usedMi * mebibyte),
  });
  const ranked = rankPods(
    [
      pod("within", 900, "1Gi"),
      pod("important", 800, "0", 10),
      pod("little", 100, "50Mi"),
      pod("much", 300, "50Mi"),
      { pod: podOf("unknown", { memory: "1Gi" }, { priority: 10 }), usage: undefined },
      pod("within and unimportant", 10, "1Gi", -5),
    ],
    "memory",
  );
  expect(names(ranked)).toEqual(["unknown", "much", "little", "important", "within and unimportant", "within"]);
});

test("disk: logs, files and volumes count together", () => {
  const disk = { bytes: 10 * mebibyte, inodes: 5 };
  const volumes = { data: { bytes: 50 * mebibyte, inodes: 1 } };
  const candidates = [
    { pod: podOf("files", { "ephemeral-storage": "1Mi" }), usage: usageOf(0, disk) },
    { pod: podOf("volume", { "ephemeral-storage": "1Mi" }), usage: usageOf(0, undefined, volumes) },
    { pod: podOf("within", { "ephemeral-storage": "1Gi" }), usage: usageOf(0, disk, volumes) },
  ];
  expect(names(rankPods(candidates, "ephemeral-storage"))).toEqual(["volume", "files", "within"]);
  expect(names(rankPods(candidates, "inodes"))).toEqual(["within", "files", "volume"]);
});

test("processes: the priority alone decides", () => {
  const candidates = [5, -5, 0].map((priority) => ({
    pod: podOf(String(priority), {}, { priority }),
    usage: usageOf(0),
  }));
  expect(names(rankPods(candidates, "pids"))).toEqual(["-5", "0", "5"]);
});
