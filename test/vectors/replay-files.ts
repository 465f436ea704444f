import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Format, leftToChance, readCases } from "./replay.ts";

/** The outcome of replaying one file. */
export interface FileReport {
  readonly file: string;
  readonly total: number;
  readonly equal: number;
  /** Number of cases for which the specification requires another answer than the recorded one, and gets it. */
  readonly decided?: number;
  /** One text for each difference. */
  readonly differences: readonly string[];
}

/** Replays every packed file of cases in a directory, in order of their names. */
export async function replayFiles(directory: string, format: Format): Promise<FileReport[]> {
  const replay = await format(directory);
  const files = readdirSync(directory).filter((entry) => entry.endsWith(".jsonl.gz"));
  const reports: FileReport[] = [];
  for (const file of files.sort()) {
    const differences: string[] = [];
    let [equal, total] = [0, 0];
    for (const recorded of readCases(join(directory, file))) {
      const difference = await replay(recorded);
      if (difference === leftToChance) continue;
      total++;
      if (difference === undefined) equal++;
      else differences.push(difference);
    }
    reports.push({ file, total, equal, differences });
  }
  return reports;
}
