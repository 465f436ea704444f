import { expect, test } from "bun:test";
import type { PodSpec } from "../../api/types/core-v1.ts";
import { storageExcess } from "./storage-limits.ts";
import { mebibyte, podOf, usageOf } from "./testing.ts";

const limited = (limit: string): PodSpec => ({
  containers: [{ name: "main", image: "i", resources: { limits: { "ephemeral-storage": limit } } }],
});
const cache = (sizeLimit: string): Partial<PodSpec> => ({ volumes: [{ name: "cache", emptyDir: { sizeLimit } }] });
const disk = (mebibytes: number) => ({ bytes: mebibytes * mebibyte, inodes: 1 });

test.each([
  [cache("1Mi"), usageOf(0, disk(9), { cache: disk(2) }), 'Usage of EmptyDir volume "cache" exceeds the limit "1Mi". '],
  [cache("2Mi"), usageOf(0, disk(9), { cache: disk(2) }), undefined],
  [cache("0"), usageOf(0, disk(9), { cache: disk(2) }), undefined],
  [
    limited("4Mi"),
    usageOf(0, disk(3), { cache: disk(2) }),
    "Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. ",
  ],
  [limited("4Mi"), usageOf(0, disk(2), { cache: disk(2) }), undefined],
  [{}, usageOf(0, disk(100)), undefined],
])("%j", (spec, usage, expected) => {
  expect(storageExcess(podOf("p", {}, spec), usage)?.message).toBe(expected as string);
});

test("a container's own limit counts if the pod has room", () => {
  const side = { name: "side", image: "i", resources: { limits: { "ephemeral-storage": "1Gi" } } };
  const spec: PodSpec = { containers: [...(limited("1Mi").containers ?? []), side] };
  expect(storageExcess(podOf("p", {}, spec), usageOf(0, disk(2)))).toEqual({
    signal: "ephemeralcontainerfs.limit",
    message: 'Container main exceeded its local ephemeral storage limit "1Mi". ',
  });
});
