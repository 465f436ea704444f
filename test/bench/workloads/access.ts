import { join } from "node:path";
import { Client } from "../client.ts";
import { collection, objectName, randomFrom, seedDirectory } from "../documents.ts";
import { load } from "../load.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const objects = 1_000;
const bindings = 500;
const rounds = 5;
const warmUpSeconds = 2;
const rules = "/apis/rbac.authorization.k8s.io/v1";
const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

/**
 * The reads of W15: GETs by a user whom one of 500 bindings allows them, with and without an audit of everything at
 * Metadata, compared with the same GETs where everything is allowed.
 */
export async function access({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const tokenAuthFile = join(directory.path, "tokens.csv");
  const auditPolicyFile = join(directory.path, "policy.json");
  await Bun.write(tokenAuthFile, "reader-token,reader,1\n");
  await Bun.write(auditPolicyFile, JSON.stringify(policy));
  const rbac = { tokenAuthFile, authorizationMode: ["RBAC"] };
  const audit = { auditPolicyFile, auditLogPath: join(directory.path, "audit.log"), auditLogMode: ["batch"] };

  await using open = await Measured.start({ tokenAuthFile }, false);
  await using authorized = await Measured.start(rbac, true);
  await using audited = await Measured.start({ ...rbac, ...audit }, true);
  // In turns, so that a busy moment of the machine affects all sides.
  for (let round = 0; round < rounds; round++) {
    for (const server of [open, authorized, audited]) await server.run(seconds / rounds);
  }
  return [
    { name: "allowed to all", value: open.rate, unit: "req/s", note: `CPU ${open.cpu.toFixed(1)} us` },
    {
      name: `RBAC, ${bindings} bindings`,
      value: authorized.rate,
      unit: "req/s",
      ceiling: open.rate,
      note: `CPU ${authorized.cpu.toFixed(1)} us: authorization ${(authorized.cpu - open.cpu).toFixed(1)} us`,
    },
    {
      name: "RBAC and audit",
      value: audited.rate,
      unit: "req/s",
      ceiling: authorized.rate,
      note: `CPU ${audited.cpu.toFixed(1)} us: audit ${(audited.cpu - authorized.cpu).toFixed(1)} us`,
    },
  ];
}

/** A server, and its results under load. */
class Measured implements AsyncDisposable {
  readonly #served: Served;
  readonly #directory: AsyncDisposable;
  readonly #paths: readonly string[];
  readonly #rates: number[] = [];
  readonly #cpus: number[] = [];

  private constructor(served: Served, directory: AsyncDisposable) {
    this.#served = served;
    this.#directory = directory;
    const random = randomFrom(1);
    this.#paths = Array.from({ length: objects }, () => `${collection}/${objectName(Math.floor(random() * objects))}`);
  }

  static async start(options: object, bound: boolean): Promise<Measured> {
    const directory = await temporaryDirectory();
    await seedDirectory(directory.path, objects);
    const served = await serve("server", directory.path, JSON.stringify(options));
    if (bound) await bind(served);
    const server = new Measured(served, directory);
    await server.#load(warmUpSeconds);
    return server;
  }

  async run(seconds: number): Promise<void> {
    const before = cpuSeconds(this.#served.pid);
    const rate = await this.#load(seconds);
    this.#rates.push(rate);
    this.#cpus.push((1e6 * (cpuSeconds(this.#served.pid) - before)) / (rate * seconds));
  }

  /** Returns the median of the rounds. */
  get rate(): number {
    return percentile(this.#rates, 0.5);
  }

  /** Returns the microseconds per request, the median of the rounds. */
  get cpu(): number {
    return percentile(this.#cpus, 0.5);
  }

  async #load(seconds: number): Promise<number> {
    const reader = { ...this.#served, token: "reader-token" };
    const shape = { connections: 8, streams: 32, paths: this.#paths };
    return (await load(reader, { ...shape, seconds })).requestsPerSecond;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** Creates many bindings of other users, and one of the reader among them. */
async function bind(served: Served): Promise<void> {
  using client = new Client(served);
  const named = (name: string, more: object) => JSON.stringify({ metadata: { name }, ...more });
  const reads = { rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }] };
  await client.expect("POST", `${rules}/clusterroles`, named("bench-reader", reads));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "bench-reader" };
  for (let at = 0; at < bindings; at++) {
    const name = at === bindings / 2 ? "reader" : `user-${at}`;
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }];
    const path = `${rules}/${at % 2 === 0 ? "clusterrolebindings" : "namespaces/default/rolebindings"}`;
    await client.expect("POST", path, named(`bench-${at}`, { subjects, roleRef }));
  }
}
