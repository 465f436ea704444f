import { join } from "node:path";
import { Client } from "../client.ts";
import { collection, objectName, randomFrom, seedDirectory } from "../documents.ts";
import { load } from "../load.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 1_000;
const bindings = 500;
const rules = "/apis/rbac.authorization.k8s.io/v1";
const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

/**
 * The reads of W15: GETs of a user whom one of 500 bindings allows them, with and without an audit of everything at
 * Metadata, against the same GETs where everything is allowed.
 */
export async function access({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const tokenAuthFile = join(directory.path, "tokens.csv");
  const auditPolicyFile = join(directory.path, "policy.json");
  await Bun.write(tokenAuthFile, "reader-token,reader,1\n");
  await Bun.write(auditPolicyFile, JSON.stringify(policy));
  const rbac = { tokenAuthFile, authorizationMode: ["RBAC"] };
  const audit = { auditPolicyFile, auditLogPath: join(directory.path, "audit.log"), auditLogMode: ["batch"] };

  const open = await measured(seconds, { tokenAuthFile }, false);
  const authorized = await measured(seconds, rbac, true);
  const audited = await measured(seconds, { ...rbac, ...audit }, true);
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

/** Rate, and microseconds of CPU for each request. */
async function measured(seconds: number, options: object, bound: boolean): Promise<{ rate: number; cpu: number }> {
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, objects);
  await using served = await serve("server", directory.path, JSON.stringify(options));
  if (bound) await bind(served);
  const random = randomFrom(1);
  const paths = Array.from({ length: objects }, () => `${collection}/${objectName(Math.floor(random() * objects))}`);
  const reader = { ...served, token: "reader-token" };
  const shape = { connections: 8, streams: 32, paths };
  await load(reader, { ...shape, seconds: 1 });
  const before = cpuSeconds(served.pid);
  const { requestsPerSecond } = await load(reader, { ...shape, seconds });
  return {
    rate: requestsPerSecond,
    cpu: (1e6 * (cpuSeconds(served.pid) - before)) / (requestsPerSecond * seconds),
  };
}

/** So many bindings of other users, and among them one of the reader. */
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
