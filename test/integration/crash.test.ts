import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { random, seed } from "../../raft/testing/seed.ts";
import type { Revision } from "../../src/api/revision.ts";
import type { Store } from "../../src/storage/store.ts";
import { openAlone } from "../contract/open-alone.ts";
import { bodyText } from "../contract/store-commands.ts";

const rounds = Number(Bun.env.CRASH_ROUNDS ?? 10);
/** Maximum number of lines after which a writer is killed. */
const linesMax = 1_000;

const root = mkdtempSync(join(tmpdir(), "crash-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Acknowledged {
  readonly data: string;
  readonly revision: number;
}

/** Runs a writer, kills it when it has printed so many lines, and adds its output to `acknowledged`. */
async function writeAndKill(
  directory: string,
  round: number,
  killAfter: number,
  acknowledged: Map<string, Acknowledged>,
) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "crash-writer.ts"), directory, `${round}`], {
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  let printed = 0;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    const more = decoder.decode(chunk, { stream: true });
    text += more;
    printed += more.split("\n").length - 1;
    if (printed >= killAfter) child.kill("SIGKILL");
  }
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  // The last piece may be an incomplete line, whose write may or may not be stored.
  const lines = text.split("\n").slice(0, -1);
  for (const line of lines) {
    const [key, data, revision] = line.split(" ") as [string, string, string];
    if (key !== "open") acknowledged.set(key, { data, revision: Number(revision) });
  }
  return lines.length;
}

test(
  `after each of ${rounds} kills every acknowledged write is there and no revision goes back (SEED=${seed})`,
  async () => {
    const directory = join(root, "data");
    const acknowledged = new Map<string, Acknowledged>();
    let revisionBefore = 0;
    let compactedBefore = 0;
    let told = 0;
    for (let round = 0; round < rounds; round++) {
      const killAfter = 1 + Math.floor(random() * linesMax);
      told += await writeAndKill(directory, round, killAfter, acknowledged);
      const store = await openAlone({ directory });
      try {
        expect(store.corrupt).toEqual([]);
        const newest = Math.max(...[...acknowledged.values()].map(({ revision }) => revision));
        expect(store.revision).toBeGreaterThanOrEqual(Math.max(newest, revisionBefore));
        expect(store.compactedRevision).toBeGreaterThanOrEqual(compactedBefore);
        for (const [key, { data, revision }] of acknowledged) checkPresent(store, key, data, revision);
        await checkHistory(store);
        revisionBefore = store.revision;
        compactedBefore = store.compactedRevision;
      } finally {
        await store.close();
      }
    }
    expect(told).toBeGreaterThan(rounds);
  },
  rounds * 20_000,
);

/** The acknowledged state, or a later one whose acknowledgement was lost in the kill. */
function checkPresent(store: Store, key: string, data: string, revision: number): void {
  const entry = store.get(key);
  expect(entry?.revision as number).toBeGreaterThanOrEqual(revision);
  if ((entry?.revision as number) === revision) expect(bodyText(entry)).toContain(`"data":"${data}"`);
}

async function checkHistory(store: Store): Promise<void> {
  const from = store.compactedRevision;
  const events = await store.eventsAfter(from, { prefix: "/registry/", limit: Number.MAX_SAFE_INTEGER });
  const expected = Array.from({ length: store.revision - from }, (_, at) => (from + 1 + at) as Revision);
  expect(events.map(({ revision }) => revision)).toEqual(expected);
}
