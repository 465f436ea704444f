import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The table of attacks is true only if a test of each row's files names the attack. */
const root = join(import.meta.dir, "..");
const files = ["src", "raft", "test"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join(folder, file)),
);
const rows = readFileSync(join(root, "docs/attacks.md"), "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, attack = ""]) => /^(\d|CVE-)/.test(attack))
  .map(([, attack = "", , tests = ""]) => [attack, tests] as const);

/** Returns `48` and `49` for "48, 49. text" and for "48 to 49. text", and the CVEs in the text. */
function namesOf(attack: string): string[] {
  const [, from, to, more] = /^(\d+)(?: to (\d+))?(?:, (\d+))?\. /.exec(attack) ?? [];
  const first = Number(from);
  const numbers =
    from === undefined ? [] : Array.from({ length: Number(to ?? from) - first + 1 }, (_, at) => first + at);
  if (more !== undefined) numbers.push(Number(more));
  return [...numbers.map((number) => `attack ${number}`), ...(attack.match(/CVE-\d+-\d+/g) ?? [])];
}

/** Reports whether the name occurs, and not only as the start of a longer number. */
function occurs(name: string, text: string): boolean {
  return text.split(name).some((rest, at) => at > 0 && !/^\d/.test(rest));
}

test("the table has rows", () => expect(rows.length).toBeGreaterThan(80));

test.each(rows)("%s", (attack, tests) => {
  const named = [...tests.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, name = ""]) => name);
  const found = named.map((name) => {
    const path = name.replace(/^attacks\//, "test/integration/attacks/");
    return files.find((file) => file === path || (!path.includes("/") && basename(file) === path)) ?? `no ${name}`;
  });
  expect(found.filter((file) => file.startsWith("no "))).toEqual([]);
  const texts = found.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  expect(namesOf(attack).filter((name) => !occurs(name, texts))).toEqual([]);
});
