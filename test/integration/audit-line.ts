import { readFileSync } from "node:fs";

const waitMsMax = 2_000;

/** Returns the event of an answered request from the log; undefined if there is none in time. */
export async function auditLine(path: string, auditId: string): Promise<string | undefined> {
  for (const end = performance.now() + waitMsMax; performance.now() < end; await Bun.sleep(5)) {
    const lines = readFileSync(path, "utf8").split("\n");
    const found = lines.find((line) => line.includes(`"auditID":"${auditId}"`) && line.includes("ResponseComplete"));
    if (found !== undefined) return found;
  }
  return undefined;
}
