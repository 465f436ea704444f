import { TestServer } from "../integration/server.ts";
import type { FidelityCase } from "../fidelity/fidelity-case.ts";
import { FidelityRun, recordedUnder } from "../fidelity/fidelity-run.ts";
import { specifiedAnswer, specifiedCode } from "../fidelity/specified-answer.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readCases } from "./replay.ts";
import type { FileReport } from "./replay-files.ts";

/** A case as it was recorded from the reference. */
interface Recorded {
  readonly part: string;
  readonly kind: string;
  readonly what: string;
  readonly setup: FidelityCase["setup"];
  readonly request: FidelityCase["request"];
  readonly expected: {
    readonly status: number;
    readonly headers: { readonly "Content-Type"?: string; readonly Warning?: readonly string[] };
    readonly body: FidelityCase["answer"];
    readonly form: string;
  };
}

/**
 * Replays the recorded requests of a directory, file by file, each on a server of its own. Cases whose answer depends on
 * requests that the recording does not name are left out: they say nothing about this server.
 */
export async function replayDiff(directory: string): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  for (const file of readdirSync(directory)
    .filter((name) => /^(equal|wrong)-.*\.jsonl\.gz$/.test(name))
    .sort()) {
    await using server = await TestServer.start(recordedUnder);
    reports.push(await replayFile(new FidelityRun(server), join(directory, file), file));
  }
  return reports;
}

async function replayFile(run: FidelityRun, path: string, file: string): Promise<FileReport> {
  const cases = [...readCases(path)].map((recorded) => recorded as unknown as Recorded).filter(isReplayableCase);
  const differences: string[] = [];
  for (const recorded of inOrder(cases.map(fidelityCaseOf))) {
    const difference = await run.differs(recorded);
    if (difference !== undefined) differences.push(difference);
  }
  await run.clean();
  return { file, total: cases.length, equal: cases.length - differences.length, differences };
}

/** Cases of one setup side by side; the first that writes for real is the last to use the objects of its setup. */
function inOrder(cases: readonly FidelityCase[]): FidelityCase[] {
  const key = ({ setup, request }: FidelityCase) =>
    `${JSON.stringify(setup)}${request.method === "GET" || request.target.includes("dryRun=All") ? 0 : 1}`;
  return cases
    .map((each) => ({ each, key: key(each) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => each);
}

const previewVersion = /v\d+(alpha|beta)\d+/;
/** Writes of the recording that come before the case, and that it does not repeat in its setup. */
const unnamedHistory = /really|^get after|^delete |^delete$|^collection delete|^status |^table |^list /;
const unnamedHistoryOfSubresources =
  /^(eviction (protected running|budget)|budget after|pod after|bound|binding again|resize|approved|certificate |forbidden$|scaled object|scale table|scale: |after$|ephemeral (removed|changed)|method )/;

function isReplayableCase({ part, kind, what, expected, request }: Recorded): boolean {
  if (/anonymous|bad token/.test(`${kind} ${what}`) || request.method === "TRACE") return false;
  if (expected.form !== "json" && expected.form !== "text") return false;
  if (part !== "d" && part !== "e" && previewVersion.test(kind)) return false;
  if (part === "a") return !unnamedHistory.test(what);
  if (part === "c") return !unnamedHistoryOfSubresources.test(what) && !request.target.includes("/pods/r1");
  if (part === "e") return !("Impersonate-User" in request.headers);
  return part === "b";
}

/** The case in the form of this project. */
function fidelityCaseOf(recorded: Recorded): FidelityCase {
  const { part, kind, what, setup, request, expected } = recorded;
  const { headers } = expected;
  const contentType = headers["Content-Type"];
  return {
    area: part,
    title: `${kind} ${what}`,
    setup,
    request,
    code: specifiedCode(expected.status, expected.body),
    ...(contentType === undefined ? {} : { contentType }),
    warnings: headers.Warning ?? [],
    answer: specifiedAnswer(expected.body),
  };
}
