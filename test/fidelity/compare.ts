import { equalJson, type JsonValue } from "../../src/api/json.ts";
import { Chance } from "../integration/random-object.ts";
import { comparedRequests } from "./compared-requests.ts";
import { type ComparedAnswer, type ComparedRequest, ComparedServer } from "./compared-server.ts";

/**
 * Sends the same requests to two servers and prints where their answers differ: `bun run compare <kubeconfig>
 * <kubeconfig>`. `SEED` repeats a run, `REQUESTS` is their number in each area, `AREAS` selects areas, and `SHOW` is the
 * number of differing pairs that are printed.
 */
const [first, second] = process.argv.slice(2);
if (first === undefined || second === undefined) {
  console.error("usage: bun run compare <kubeconfig> <kubeconfig>");
  process.exit(2);
}
const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);
const requests = Number(Bun.env["REQUESTS"] ?? 200);
const shown = Number(Bun.env["SHOW"] ?? 20);
const only = Bun.env["AREAS"]?.split(",");

const servers = [new ComparedServer(first), new ComparedServer(second)] as const;
// A server without controllers never finishes deleting a namespace, so each run has its own.
const { setup, areas, cleanup } = await comparedRequests(`compare-${Date.now().toString(36)}`);
console.log(`seed ${seed}`);
let different = 0;
try {
  for (const request of setup) await both(request);
  for (const [area, generate] of areas) {
    if (only?.includes(area) === false) continue;
    const chance = new Chance(seed);
    let equal = 0;
    for (let count = 0; count < requests; count++) {
      const request = generate(chance);
      const [one, other] = await both(request);
      if (equalJson(one as unknown as JsonValue, other as unknown as JsonValue)) equal++;
      else if (++different <= shown) show(area, request, [one, other]);
    }
    console.log(`${area}: ${equal} equal, ${requests - equal} different`);
  }
} finally {
  for (const request of cleanup) await both(request);
}
process.exit(different === 0 ? 0 : 1);

function both(request: ComparedRequest): Promise<[ComparedAnswer, ComparedAnswer]> {
  return Promise.all([servers[0].send(request), servers[1].send(request)]);
}

function show(
  area: string,
  { method, target, headers, body }: ComparedRequest,
  answers: readonly ComparedAnswer[],
): void {
  console.log(`${area}: ${method} ${target} ${JSON.stringify(headers ?? {})} ${body ?? ""}`);
  for (const answer of answers) console.log(`  ${JSON.stringify(answer)}`);
}
