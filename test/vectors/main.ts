import { readdirSync } from "node:fs";
import { join } from "node:path";
import { replayApply } from "./ssa.ts";
import { replayTranscripts } from "./transcripts.ts";
import { type Format, readCases } from "./replay.ts";

/** Replays recorded cases: `bun run vectors <format> <directory>`. Prints how many of each file came out the same. */
const formats: Readonly<Record<string, Format>> = {
  ssa: replayApply,
  transcripts: () => replayTranscripts(),
};
const differencesPrintedMax = 20;

const [name = "", directory] = process.argv.slice(2);
const format = formats[name];
if (format === undefined || directory === undefined) {
  console.error(`usage: bun run vectors ${Object.keys(formats).join("|")} <directory>`);
  process.exit(2);
}

const replay = await format(directory);
let printed = 0;
let differs = false;
for (const file of readdirSync(directory)
  .filter((entry) => entry.endsWith(".jsonl.gz"))
  .sort()) {
  let [equal, total] = [0, 0];
  for (const line of readCases(join(directory, file))) {
    total++;
    const difference = await replay(line);
    if (difference === undefined) equal++;
    else if (printed++ < differencesPrintedMax) console.log(difference);
  }
  differs ||= equal < total;
  console.log(`${file}: ${equal} equal, ${total - equal} different, ${total} total`);
}
process.exit(differs ? 1 : 0);
