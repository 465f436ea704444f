import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSubPath, SubPathError } from "./sub-path.ts";

let folder = "";
let volume = "";
let outside = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sub-path-")));
  volume = join(folder, "volume");
  outside = join(folder, "outside");
  for (const path of [volume, outside]) mkdirSync(path);
  writeFileSync(join(outside, "secret"), "host");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function opened(subPath: string, missing: "make" | "refuse" = "make"): Promise<string> {
  using held = await openSubPath(volume, subPath, missing);
  return held.path;
}

describe("a path inside the volume", () => {
  test("is opened", async () => {
    mkdirSync(join(volume, "a/b"), { recursive: true });
    writeFileSync(join(volume, "a/file"), "x");
    expect(await opened("a/b")).toBe(join(volume, "a/b"));
    expect(await opened("a/file")).toBe(join(volume, "a/file"));
    expect(await opened("./a//b/")).toBe(join(volume, "a/b"));
    expect(await opened("a/b/..dots")).toBe(join(volume, "a/b/..dots"));
  });

  test("is made if it is missing, with the volume's mode", async () => {
    statSync(volume);
    expect(await opened("new/deep")).toBe(join(volume, "new/deep"));
    expect(statSync(join(volume, "new/deep")).mode & 0o777).toBe(statSync(volume).mode & 0o777);
  });

  test("is not made if that is not wanted", async () => {
    await expect(opened("new", "refuse")).rejects.toThrow(SubPathError);
    expect(readdirSync(volume)).toEqual([]);
  });

  test("may lead through links that stay in the volume", async () => {
    mkdirSync(join(volume, "..2026"));
    writeFileSync(join(volume, "..2026/key"), "x");
    symlinkSync("..2026", join(volume, "..data"));
    symlinkSync("..data/key", join(volume, "key"));
    symlinkSync(join(volume, "..2026"), join(volume, "absolute"));
    expect(await opened("key")).toBe(join(volume, "..2026/key"));
    expect(await opened("absolute/key")).toBe(join(volume, "..2026/key"));
  });
});

describe("attack 85, CVE-2017-1002101: a path that leaves the volume", () => {
  test.each([
    ["an absolute link", () => symlinkSync(outside, join(volume, "x")), "x"],
    ["an absolute link to a file", () => symlinkSync(join(outside, "secret"), join(volume, "x")), "x"],
    ["a relative link", () => symlinkSync("../outside", join(volume, "x")), "x/secret"],
    ["a link to the root", () => symlinkSync("/", join(volume, "x")), "x/etc/passwd"],
    ["a link above a missing name", () => symlinkSync(outside, join(volume, "x")), "x/new/deep"],
    ["a link that leads nowhere yet", () => symlinkSync(join(outside, "later"), join(volume, "x")), "x/new"],
    [
      "a chain of links",
      () => {
        symlinkSync("b", join(volume, "a"));
        symlinkSync("c", join(volume, "b"));
        symlinkSync("../outside", join(volume, "c"));
      },
      "a",
    ],
    ["two dots", () => {}, "../outside"],
    ["two dots after a name that is missing", () => {}, "new/../../outside"],
    ["a link to itself", () => symlinkSync("x", join(volume, "x")), "x"],
  ])("by %s is refused, and nothing is made", async (_name, prepare, subPath) => {
    prepare();
    await expect(opened(subPath)).rejects.toThrow(SubPathError);
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("by a link to a folder whose name begins with that of the volume is refused", async () => {
    mkdirSync(join(folder, "volume-other"));
    symlinkSync("../volume-other", join(volume, "x"));
    await expect(opened("x")).rejects.toThrow(SubPathError);
  });
});

test("attack 85, CVE-2021-25741: a program that swaps a folder for a link meanwhile never gets out", async () => {
  mkdirSync(join(volume, "target/inner"), { recursive: true });
  // Another process, so that it also acts between two calls of the system.
  const swap = Bun.spawn([process.execPath, "-e", swapper], { cwd: volume, stdout: "pipe", stderr: "inherit" });
  await swap.stdout.getReader().read();
  let opened = 0;
  let refused = 0;
  for (let i = 0; i < 2_000; i++) {
    try {
      using held = await openSubPath(volume, i % 2 === 0 ? "target/inner" : `target/made-${i}`, "make");
      expect(held.isAt(outside)).toBe(false);
      expect(held.path.startsWith(outside)).toBe(false);
      opened++;
    } catch (error) {
      if (!(error instanceof SubPathError)) throw error;
      refused++;
    }
  }
  swap.kill();
  await swap.exited;
  expect(opened).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
  expect(readdirSync(outside)).toEqual(["secret"]);
});

/** Has a folder and a link out of the volume at `target` by turns. */
const swapper = `
  const { renameSync, rmSync, symlinkSync } = require("node:fs");
  console.log("ready");
  // The other side may make a folder whenever there is none.
  const insist = (act) => {
    for (;;) {
      try {
        return act();
      } catch {
        rmSync("target", { recursive: true, force: true });
      }
    }
  };
  for (;;) {
    renameSync("target", "real");
    insist(() => symlinkSync("../outside", "target"));
    rmSync("target", { recursive: true, force: true });
    insist(() => renameSync("real", "target"));
  }
`;

test("a held path stays the same file when its name is taken by a link", async () => {
  mkdirSync(join(volume, "a"));
  writeFileSync(join(volume, "a/mine"), "x");
  using held = await openSubPath(volume, "a", "make");
  renameSync(join(volume, "a"), join(volume, "b"));
  symlinkSync(outside, join(volume, "a"));
  expect(readdirSync(held.handle)).toEqual(["mine"]);
  expect(held.isAt(join(volume, "a"))).toBe(false);
  expect(held.isAt(join(volume, "b"))).toBe(true);
});

test("a volume that is a file, or is missing, has no paths inside", async () => {
  await expect(openSubPath(join(outside, "secret"), "x", "make")).rejects.toThrow(SubPathError);
  await expect(openSubPath(join(folder, "none"), "x", "make")).rejects.toThrow(SubPathError);
  expect(existsSync(join(folder, "none"))).toBe(false);
});
