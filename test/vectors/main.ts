import { runCelVectors } from "./cel-vectors.ts";
import { runCrdVectors } from "./crd-vectors.ts";
import { replayDiff } from "./diff.ts";
import { type FileReport, replayFiles } from "./replay-files.ts";
import { replayApply } from "./ssa.ts";
import { replayTranscripts } from "./transcripts.ts";

/** Replays recorded cases: `bun run vectors <format> <directory>`. Prints the number of equal answers for each file. */
const formats: Readonly<Record<string, (directory: string) => Promise<readonly FileReport[]>>> = {
  cel: async (directory) => runCelVectors(directory).map(celReport),
  crd: async (directory) => runCrdVectors(directory),
  diff: replayDiff,
  ssa: (directory) => replayFiles(directory, replayApply),
  transcripts: (directory) => replayFiles(directory, () => replayTranscripts()),
};
const differencesPrintedMax = Number(Bun.env["DIFFERENCES"] ?? 20);

const [name = "", directory] = process.argv.slice(2);
const format = formats[name];
if (format === undefined || directory === undefined) {
  console.error(`usage: bun run vectors ${Object.keys(formats).join("|")} <directory>`);
  process.exit(2);
}

const reports = await format(directory);
for (const difference of reports.flatMap(({ differences }) => differences).slice(0, differencesPrintedMax)) {
  console.log(difference);
}
for (const { file, equal, total, decided = 0 } of reports) {
  const byDecision = decided === 0 ? "" : `, ${decided} different by decision`;
  console.log(`${file}: ${equal} equal, ${total - equal - decided} different${byDecision}, ${total} total`);
}
process.exit(reports.some(({ equal, total, decided = 0 }) => equal + decided < total) ? 1 : 0);

function celReport(report: ReturnType<typeof runCelVectors>[number]): FileReport {
  const differences = report.differences.map(
    ({ name: at, aspect, expected, actual }) =>
      `${at}: ${aspect}: ${JSON.stringify(expected)} expected, ${JSON.stringify(actual)} found`,
  );
  return { ...report, differences };
}
