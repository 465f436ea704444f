import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const lock = readFileSync(join(root, "bun.lock"), "utf8");
/** The packages of the lock file: `"name": ["name@version", …, "sha512-…"],`. */
const packages = lock
  .slice(lock.indexOf('"packages": {'))
  .split("\n")
  .filter((line) => /^ {4}"[^"]+": \[/.test(line));

test("attack 74: every package is pinned by version and by hash", () => {
  const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual([]);
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter((line) => !/"sha512-[A-Za-z0-9+/]{86}=="\],?$/.test(line))).toEqual([]);
});

test("attack 74: every package comes from the registry", () => {
  expect(
    packages.filter((line) => /"(?:git|github|file|https?|link):|@(?:git|github|https?|file):/.test(line)),
  ).toEqual([]);
});
