import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { systemClock } from "../../process/clock.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { StaticPods } from "./static-pods.ts";

let folder = "";
let told: string[] = [];
let errors: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "static-pods-"));
  told = [];
  errors = [];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(path = folder, clock = systemClock): Promise<StaticPods> {
  const say = (word: string) => (pod: Pod) => void told.push(`${word} ${pod.metadata.name} ${imageOf(pod)}`);
  const sinks = [{ podChanged: say("changed"), podGone: say("gone") }];
  return StaticPods.open({ path, nodeName: "n1", clock, sinks, onError: (error) => errors.push(String(error)) });
}

function imageOf({ spec }: Pod): string {
  return spec?.containers?.[0]?.image ?? "";
}

function manifest(name: string, image: string): string {
  const spec = { containers: [{ name: "main", image }] };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
}

test("the pods of a folder are told before it is opened, in the order of the files", async () => {
  writeFileSync(join(folder, "b.json"), manifest("web", "i:1"));
  writeFileSync(join(folder, "a.yaml"), manifest("db", "i:2"));
  writeFileSync(join(folder, ".hidden"), manifest("hidden", "i:3"));
  using pods = await open();
  expect(told).toEqual(["changed db-n1 i:2", "changed web-n1 i:1"]);
  expect(pods.pods).toHaveLength(2);
  expect(errors).toEqual([]);
});

test("files are followed", async () => {
  using _pods = await open();
  writeFileSync(join(folder, "web.json"), manifest("web", "i:1"));
  await until(() => told.length === 1);
  writeFileSync(join(folder, "web.json"), manifest("web", "i:2"));
  await until(() => told.length === 3);
  rmSync(join(folder, "web.json"));
  await until(() => told.length === 4);
  expect(told).toEqual(["changed web-n1 i:1", "gone web-n1 i:1", "changed web-n1 i:2", "gone web-n1 i:2"]);
});

test("files are read again at intervals, and unchanged ones tell nothing", async () => {
  const clock = new ManualClock();
  const file = join(folder, "web.json");
  writeFileSync(file, manifest("web", "i:1"));
  using pods = await open(file, clock);
  const [before] = pods.pods;
  clock.advance(20_000);
  writeFileSync(file, manifest("web", "i:2"));
  await until(() => {
    clock.advance(20_000);
    return told.length === 3;
  });
  expect(told).toEqual(["changed web-n1 i:1", "gone web-n1 i:1", "changed web-n1 i:2"]);
  expect(pods.pods[0]?.metadata.uid).not.toBe(before?.metadata.uid ?? "");
});

test("a pod with a uid of its own changes in place", async () => {
  const file = join(folder, "web.json");
  const own = (image: string) => manifest("web", image).replace('"name":"web"', '"name":"web","uid":"own"');
  writeFileSync(file, own("i:1"));
  using _pods = await open();
  writeFileSync(file, own("i:2"));
  await until(() => told.length === 2);
  expect(told).toEqual(["changed web-n1 i:1", "changed web-n1 i:2"]);
});

test("a single file is followed when it is replaced", async () => {
  const file = join(folder, "web.json");
  using _pods = await open(file);
  expect(errors[0]).toContain("path does not exist, ignoring");
  writeFileSync(file, manifest("web", "i:1"));
  await until(() => told.length === 1);
});

test("files without a pod are reported, and the others are taken", async () => {
  writeFileSync(join(folder, "a.yaml"), "kind: Service\n");
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "c.json"), manifest("web", "i:1"));
  writeFileSync(join(folder, "d.json"), manifest("web", "i:2"));
  using _pods = await open();
  expect(told).toEqual(["changed web-n1 i:1"]);
  expect(errors).toHaveLength(3);
  expect(errors[0]).toContain("a.yaml: couldn't parse as pod(");
  expect(errors[1]).toContain("not a file");
  expect(errors[2]).toContain("another file has a pod with the name default/web-n1");
});
