import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { FidelityCase, SetupRequest } from "../fidelity/fidelity-case.ts";
import { FidelityRun, recordedUnder, type StandingObjects } from "../fidelity/fidelity-run.ts";
import { specifiedAnswer, specifiedCode } from "../fidelity/specified-answer.ts";
import { TestServer } from "../integration/server.ts";
import { PublishedParts } from "./published-parts.ts";
import { readCases } from "./replay.ts";
import type { FileReport } from "./replay-files.ts";

/** A case as recorded from the reference. */
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
 * Replays the recorded requests of a directory, file by file, each on a server of its own. Omits cases whose answer
 * depends on requests that the recording does not name, because they prove nothing.
 */
export async function replayDiff(directory: string): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  for (const file of readdirSync(directory)
    .filter((name) => /^(equal|wrong)-.*\.jsonl\.gz$/.test(name))
    .sort()) {
    await using server = await TestServer.start({ ...recordedUnder, controllers: "*" });
    reports.push(await replayFile(server, join(directory, file), file));
  }
  return reports;
}

async function replayFile(server: TestServer, path: string, file: string): Promise<FileReport> {
  const recorded = [...readCases(path)].map((each) => each as unknown as Recorded).filter(isReplayableCase);
  const parts = new PublishedParts(server);
  const run = new FidelityRun(server, standingObjects);
  const differences: string[] = [];
  let decided = 0;
  for (const each of inOrder(recorded)) {
    const difference = await (each.part === "d" ? parts.differs(each) : run.differs(fidelityCaseOf(each)));
    const isDecided = differsByDecision(each, difference);
    if (isDecided) decided++;
    else if (difference !== undefined) differences.push(difference);
  }
  await run.clean();
  const equal = recorded.length - differences.length - decided;
  return { file, total: recorded.length, equal, decided, differences };
}

/** Runs cases of one setup together. The first case that really writes is the last to use the objects of its setup. */
function inOrder(cases: readonly Recorded[]): Recorded[] {
  const key = ({ setup, request }: Recorded) =>
    `${JSON.stringify(setup)}${request.method === "GET" || request.target.includes("dryRun=All") ? 0 : 1}`;
  return cases
    .map((each) => ({ each, key: key(each) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => each);
}

const previewVersion = /v\d+(alpha|beta)\d+/;
/** Writes of the recording that precede the case but are not part of its setup. */
const unnamedHistory = /really|^get after|^delete |^delete$|^collection delete|^status |^table |^list /;
const unnamedHistoryOfSubresources =
  /^(eviction (protected running|budget)|budget after|pod after|bound|binding again|resize|approved|certificate |forbidden$|scaled object|scale table|scale: |after$|ephemeral (removed|changed)|method )/;

function isReplayableCase({ part, kind, what, expected, request }: Recorded): boolean {
  if (/anonymous|bad token/.test(`${kind} ${what}`) || request.method === "TRACE") return false;
  if (part === "d") return true;
  if (expected.form !== "json" && expected.form !== "text") return false;
  if (part !== "d" && part !== "e" && previewVersion.test(kind)) return false;
  if (part === "a") return !unnamedHistory.test(what) && !(what === "create minimal" && expected.status === 409);
  if (part === "c") return !unnamedHistoryOfSubresources.test(what) && !request.target.includes("/pods/r1");
  if (part === "e") return !("Impersonate-User" in request.headers);
  return part === "b";
}

/**
 * Reports whether the specification requires another answer than kube-apiserver's: 400 for the body of a patch, no values
 * of Secrets in messages, and a warning for a dryRun without a value.
 * @param difference between the answer and the required one, or kube-apiserver's if that is the same
 */
function differsByDecision({ request, expected }: Recorded, difference: string | undefined): boolean {
  if (specifiedCode(expected.status, expected.body) !== expected.status && difference === undefined) return true;
  if (difference === undefined) return false;
  const isSecret = request.target.includes("/secrets");
  const isValuelessDryRun = /[?&]dryRun=?(?:&|$)/.test(request.target);
  return (
    (isSecret && difference.includes("redacted")) || (isValuelessDryRun && difference.includes("dryRun has no value"))
  );
}

const standingNamespace = /\/namespaces\/(diff-\d-\d{5}-q)\//;

/** ConfigMaps and a pod of the namespaces in which lists and watches were recorded. */
const standingObjects: StandingObjects = {
  of(namespace) {
    if (!namespace.endsWith("-q")) return [];
    const at = `/api/v1/namespaces/${namespace}`;
    const maps = Array.from({ length: 7 }, (_, number) => {
      const labels = { n: String(number), odd: String(number % 2), ...(number === 3 ? { only: "here" } : {}) };
      return creation(`${at}/configmaps`, { metadata: { name: `m${number}`, labels }, data: { a: String(number) } });
    });
    const containers = [{ name: "c", image: "registry.example/i:1" }];
    const spec = { containers, nodeName: "nowhere", automountServiceAccountToken: false };
    return [...maps, creation(`${at}/pods`, { metadata: { name: "p" }, spec })];
  },
};

function creation(target: string, object: object): SetupRequest {
  return { method: "POST", target, body: JSON.stringify(object) };
}

/** Returns the case in the form of this project. */
function fidelityCaseOf(recorded: Recorded): FidelityCase {
  const { part, kind, what, request, expected } = recorded;
  const stands = [request, ...recorded.setup.slice(0, 1)].some(({ target }) => standingNamespace.test(target));
  const first: SetupRequest = { ...request, target: request.target.split("?")[0] ?? "" };
  const setup =
    what === "create again"
      ? [first]
      : stands
        ? recorded.setup.filter(({ save }) => save !== undefined)
        : recorded.setup;
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
