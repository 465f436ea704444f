import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardDirectory } from "./directory-guard.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-guard-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const newDirectory = () => mkdtempSync(join(scratch, "d-"));

const hold = `
  import { guardDirectory } from ${JSON.stringify(join(import.meta.dir, "directory-guard.ts"))};
  guardDirectory(Bun.argv[1]);
  await Bun.write(Bun.stdout, "held");
  setInterval(() => {}, 1000);
`;

test("a directory is held once, within a process as well", async () => {
  const directory = newDirectory();
  const release = guardDirectory(directory);
  expect(() => guardDirectory(directory)).toThrow(/has it open/);
  await release();
  await guardDirectory(directory)();
  expect(readdirSync(directory)).toEqual([]);
});

test("a directory that another process holds is rejected while that process lives, and taken over after it was killed", async () => {
  const directory = newDirectory();
  const other = Bun.spawn([process.execPath, "-e", hold, directory], { stdout: "pipe", stderr: "inherit" });
  const { value } = await other.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held");
  expect(() => guardDirectory(directory)).toThrow(`process ${other.pid} has it open`);
  other.kill("SIGKILL");
  await other.exited;
  await guardDirectory(directory)();
});

test.each([
  ["half written", "{"],
  ["of a process that is no more, under a pid that is used again", JSON.stringify({ pid: 1, started: "0" })],
  ["of an earlier process with our own pid", JSON.stringify({ pid: process.pid, started: "0" })],
])("a stale guard is taken over: %s", async (_, text) => {
  const directory = newDirectory();
  writeFileSync(join(directory, "guard"), text);
  await guardDirectory(directory)();
  expect(readdirSync(directory)).toEqual([]);
});
