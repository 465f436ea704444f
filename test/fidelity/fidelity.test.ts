import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { TestServer } from "../integration/server.ts";
import { readCases } from "../vectors/replay.ts";
import type { FidelityCase } from "./fidelity-case.ts";
import { FidelityRun, recordedUnder } from "./fidelity-run.ts";

const file = join(import.meta.dir, "../fixtures/fidelity/cases.jsonl.gz");
const cases = [...readCases(file)].map((recorded) => recorded as unknown as FidelityCase);
const byArea = Map.groupBy(cases, ({ area }) => area);
const server = await TestServer.start(recordedUnder);
const differencesShownMax = 5;
/** Enough for a busy machine; the sample takes some seconds. */
const areaMsMax = 120_000;

afterAll(() => server.close());

describe("answers are those of kube-apiserver 1.36.2", () => {
  const replay = async (area: string) => {
    const run = new FidelityRun(server);
    const recorded = byArea.get(area) ?? [];
    const differences: string[] = [];
    for (const each of recorded) {
      const difference = await run.differs(each);
      if (difference !== undefined) differences.push(difference);
    }
    await run.clean();
    console.log(`${area}: ${recorded.length - differences.length} equal, ${differences.length} different`);
    expect(differences.slice(0, differencesShownMax)).toEqual([]);
  };
  for (const area of byArea.keys()) test(`in the area ${area}`, () => replay(area), areaMsMax);
});
