import { expect, test } from "bun:test";
import type { Pod } from "../../../api/types/core-v1.ts";
import { MadeFiles } from "./made-files.ts";

const podOf = (uid: string): Pod => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: uid, uid },
  spec: {
    containers: [],
    volumes: [
      { name: "data", emptyDir: {} },
      { name: "host", hostPath: { path: "/srv" } },
    ],
  },
});
const mounts = [
  { name: "data", mountPath: "/data" },
  { name: "host", mountPath: "/data/host/" },
];

test("files are shared as far as their volume is", () => {
  const files = new MadeFiles();
  const first = files.seenBy("a", podOf("one"), mounts);
  const second = files.seenBy("b", podOf("one"), mounts);
  const other = files.seenBy("c", podOf("two"), [{ name: "host", mountPath: "/mnt" }]);
  for (const path of ["/own", "/data/shared", "/data/host/file"]) first.add(path);
  expect(["/own", "/data/shared", "/data/host/file"].map((path) => second.has(path))).toEqual([false, true, true]);
  expect(["/mnt/file", "/srv/file", "/data/shared"].map((path) => other.has(path))).toEqual([true, false, false]);
  files.forget("one");
  expect([first.has("/own"), second.has("/data/shared"), other.has("/mnt/file")]).toEqual([false, false, true]);
});

test("the oldest files are forgotten", () => {
  const files = new MadeFiles().seenBy("a", podOf("one"), []);
  for (let n = 0; n <= 10_000; n++) files.add(`/${n}`);
  expect([files.has("/0"), files.has("/1"), files.has("/10000")]).toEqual([false, true, true]);
});
