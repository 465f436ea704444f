import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Payload, writeAtomically } from "./atomic-folder.ts";

const isRoot = process.getuid?.() === 0;
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "atomic-folder-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function payload(files: Readonly<Record<string, string>>, mode = 0o640): Payload {
  return new Map(Object.entries(files).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));
}

function read(path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

function shown(): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith(".."))
    .sort();
}

function hidden(): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".."));
}

test("shows files through links, with their modes", async () => {
  await writeAtomically(folder, payload({ key: "value", "a/b/c": "deep", ".dotted": "x" }), undefined);
  expect(shown()).toEqual([".dotted", "a", "key"]);
  expect([read("key"), read("a/b/c"), read(".dotted")]).toEqual(["value", "deep", "x"]);
  expect(readlinkSync(join(folder, "key"))).toBe("..data/key");
  expect(readlinkSync(join(folder, "a"))).toBe("..data/a");
  expect(readlinkSync(join(folder, "..data"))).toMatch(/^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\./);
  expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o640);
});

test("writes nothing when nothing has changed", async () => {
  await writeAtomically(folder, payload({ key: "value", "a/b": "1" }), undefined);
  const before = readlinkSync(join(folder, "..data"));
  await writeAtomically(folder, payload({ key: "value", "a/b": "1" }), undefined);
  expect(readlinkSync(join(folder, "..data"))).toBe(before);
});

test("changes, adds and removes files together, and keeps one version", async () => {
  await writeAtomically(folder, payload({ key: "old", gone: "x", "a/b": "1" }), undefined);
  const before = readlinkSync(join(folder, "..data"));
  await writeAtomically(folder, payload({ key: "new", added: "y", "a/c": "2" }), undefined);
  expect(shown()).toEqual(["a", "added", "key"]);
  expect([read("key"), read("added"), read("a/c")]).toEqual(["new", "y", "2"]);
  expect(readdirSync(join(folder, "a"))).toEqual(["c"]);
  expect(readlinkSync(join(folder, "..data"))).not.toBe(before);
  expect(hidden()).toHaveLength(2);
});

test("shows all old files or all new ones to a program that reads meanwhile", async () => {
  await writeAtomically(folder, payload({ one: "0", two: "0" }), undefined);
  let mixed = 0;
  for (let round = 1; round <= 20; round++) {
    const write = writeAtomically(folder, payload({ one: String(round), two: String(round) }), undefined);
    for (let i = 0; i < 20; i++) {
      // A program that wants a consistent view resolves the link once.
      const current = readlinkSync(join(folder, "..data"));
      try {
        if (read(join(current, "one")) !== read(join(current, "two"))) mixed++;
      } catch {
        // The version has just been removed.
      }
      await new Promise(setImmediate);
    }
    await write;
  }
  expect(mixed).toBe(0);
});

test("recovers from a write that was cut short", async () => {
  await writeAtomically(folder, payload({ key: "old" }), undefined);
  symlinkSync("..nowhere", join(folder, "..data_tmp"));
  await writeAtomically(folder, payload({ key: "new" }), undefined);
  expect(read("key")).toBe("new");
  expect(hidden()).toHaveLength(2);
});

test("can show no files", async () => {
  await writeAtomically(folder, payload({}), undefined);
  await writeAtomically(folder, payload({ key: "x" }), undefined);
  await writeAtomically(folder, payload({}), undefined);
  expect(shown()).toEqual([]);
});

describe("a path", () => {
  test.each([
    ["", 'invalid path: must not be empty: ""'],
    ["/etc/passwd", "invalid path: must be relative path: /etc/passwd"],
    ["../up", "invalid path: must not contain '..': ../up"],
    ["a/../../up", "invalid path: must not contain '..': a/../../up"],
    ["..", "invalid path: must not contain '..': .."],
    ["..data", "invalid path: must not start with '..': ..data"],
    ["./..data/x", "invalid path: must not start with '..': ./..data/x"],
    [".", 'invalid path: not a file name: "."'],
    ["a\0b", 'invalid path: not a file name: "a\\u0000b"'],
    ["x".repeat(256), "invalid path: filenames must be less than or equal to 255 characters"],
    ["x/".repeat(2_049), "invalid path: must be less than or equal to 4096 characters"],
  ])("%j is refused", async (path, message) => {
    await expect(writeAtomically(folder, payload({ [path]: "x" }), undefined)).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("may have dots and doubled slashes", async () => {
    await writeAtomically(folder, payload({ "./a//b": "1", "c..d": "2" }), undefined);
    expect([read("a/b"), read("c..d")]).toEqual(["1", "2"]);
  });
});

test("attack 85: replaces a link that another program has put in the place of the data", async () => {
  const outside = mkdtempSync(join(tmpdir(), "outside-"));
  writeFileSync(join(outside, "key"), "precious");
  symlinkSync(outside, join(folder, "..data"));
  await writeAtomically(folder, payload({ key: "value" }), undefined);
  expect(read("key")).toBe("value");
  expect(readFileSync(join(outside, "key"), "utf8")).toBe("precious");
  rmSync(outside, { recursive: true });
});

test.if(isRoot)("gives files to the group and the user", async () => {
  const files = new Map([["a/token", { data: Buffer.from("t"), mode: 0o600, uid: 4321 }]]);
  await writeAtomically(folder, files, 1234);
  const facts = statSync(join(folder, "a/token"));
  expect([facts.uid, facts.gid, facts.mode & 0o777]).toEqual([4321, 1234, 0o640]);
  const above = statSync(join(folder, "a"));
  expect([above.gid, above.mode & 0o2050]).toEqual([1234, 0o2050]);
});
