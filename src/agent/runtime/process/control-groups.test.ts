import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ControlGroups } from "./control-groups.ts";

/** A folder that looks like a mounted cgroup2 in which the agent is in /system/agent. */
let folder = "";
let own = "";
let files = { mountInfo: "", ownGroup: "" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "control-groups-"));
  own = join(folder, "cgroup", "system", "agent");
  mkdirSync(join(own, "quorate-x", "one"), { recursive: true });
  writeFileSync(join(own, "cgroup.controllers"), "cpuset cpu io memory pids\n");
  writeFileSync(join(own, "cgroup.subtree_control"), "");
  writeFileSync(join(own, "quorate-x", "cgroup.procs"), "");
  writeFileSync(join(own, "quorate-x", "cgroup.subtree_control"), "");
  files = { mountInfo: join(folder, "mountinfo"), ownGroup: join(folder, "own") };
  const mounts = [
    "22 1 0:21 / /proc rw,relatime shared:5 - proc proc rw",
    `31 24 0:26 / ${join(folder, "cgroup")} rw,nosuid shared:9 - cgroup2 cgroup2 rw`,
  ];
  writeFileSync(files.mountInfo, `${mounts.join("\n")}\n`);
  writeFileSync(files.ownGroup, "1:name=systemd:/x\n0::/system/agent\n");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function opened(): ControlGroups {
  const groups = ControlGroups.open("quorate-x", files);
  if (groups === undefined) throw new Error("not opened");
  return groups;
}

function read(name: string): string {
  return readFileSync(join(own, "quorate-x", "one", name), "utf8");
}

test("open() hands the controllers on, and leaves the group of the agent for that", () => {
  expect([...opened().controllers]).toEqual(["cpu", "memory", "pids"]);
  expect(readFileSync(join(own, "agent", "cgroup.procs"), "utf8")).toBe(String(process.pid));
});

test("open() has only the controllers that the machine offers", () => {
  writeFileSync(join(own, "cgroup.controllers"), "pids\n");
  expect([...opened().controllers]).toEqual(["pids"]);
});

test("open() returns undefined without cgroup v2", () => {
  writeFileSync(files.mountInfo, "22 1 0:21 / /proc rw,relatime shared:5 - proc proc rw\n");
  expect(ControlGroups.open("quorate-x", files)).toBeUndefined();
});

test("open() returns undefined where groups are plain folders", () => {
  expect(ControlGroups.open("other", files)).toBeUndefined();
});

describe("limit()", () => {
  test.each([
    ["2", "200000 100000"],
    ["250m", "25000 100000"],
    ["1m", "1000 100000"],
    [undefined, "max"],
  ])("limits cpu %p to %s", (cpu, quota) => {
    opened().limit("one", cpu === undefined ? {} : { limits: { cpu } }, undefined);
    expect(read("cpu.max")).toBe(quota);
  });

  test("limits memory and processes, and kills a container as a whole", () => {
    opened().limit("one", { limits: { memory: "64Mi" } }, 100);
    expect([read("memory.max"), read("pids.max"), read("memory.oom.group")]).toEqual(["67108864", "100", "1"]);
  });
});

test("usage() reads the time and memory", () => {
  const groups = opened();
  expect(groups.usage("one")).toBeUndefined();
  const folderOfOne = groups.folderOf("one");
  writeFileSync(join(folderOfOne, "cpu.stat"), "usage_usec 1500\nuser_usec 1000\n");
  writeFileSync(join(folderOfOne, "memory.current"), "5000\n");
  writeFileSync(join(folderOfOne, "memory.stat"), "anon 1000\ninactive_file 2000\n");
  expect(groups.usage("one")).toEqual({ cpuNanoseconds: 1_500_000, memoryBytes: 5000, workingSetBytes: 3000 });
});

test("ranOutOfMemory() reads the kernel's count", () => {
  const groups = opened();
  expect(groups.ranOutOfMemory("one")).toBe(false);
  writeFileSync(join(groups.folderOf("one"), "memory.events"), "oom 1\noom_kill 0\n");
  expect(groups.ranOutOfMemory("one")).toBe(false);
  writeFileSync(join(groups.folderOf("one"), "memory.events"), "oom 1\noom_kill 2\n");
  expect(groups.ranOutOfMemory("one")).toBe(true);
});

test("make(), kill() and remove() work on the folder of the container", () => {
  const groups = opened();
  const made = groups.make("two");
  groups.kill("two");
  expect(readFileSync(join(made, "cgroup.kill"), "utf8")).toBe("1");
  rmSync(join(made, "cgroup.kill"));
  groups.remove("two");
  expect(existsSync(made)).toBe(false);
  groups.kill("two");
  groups.remove("two");
});
