import { Client } from "../client.ts";
import { takeLags } from "../loop-lag.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const dependents = 10_000;
const namespaces = 100;
const objectsEach = 100;
const createdAtOnce = 64;
const pollMs = 20;
const options = JSON.stringify({ controllers: "*", historyRetentionDurationMs: 5_000 });

/** W20: the work of controllers: a cascade over 10,000 dependents, and the deletion of 100 namespaces of 100 objects. */
export async function cascades({ scale }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("metered", directory.path, options);
  using client = new Client(served);
  const maps = "/api/v1/namespaces/default/configmaps";
  const count = Math.round(dependents * scale);
  const { uid } = await create(client, maps, { name: "owner" });
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await inParallel(count, (at) => create(client, maps, { name: `d-${at}`, labels: { owned: "yes" }, ownerReferences }));
  const owned = `${maps}?labelSelector=owned&limit=1`;
  const cascade = await removal(served, `cascade over ${count} dependents`, async () => {
    await client.expect("DELETE", `${maps}/owner?propagationPolicy=Background`);
    await until(async () => (await itemsOf(client, owned)).length === 0);
  });

  const many = Math.round(namespaces * scale);
  await inParallel(many, (at) => create(client, "/api/v1/namespaces", { name: `n-${at}`, labels: { owned: "yes" } }));
  await inParallel(many * objectsEach, (at) =>
    create(client, `/api/v1/namespaces/n-${at % many}/configmaps`, { name: `c-${at}` }),
  );
  const deletion = await removal(served, `deletion of ${many} namespaces of ${objectsEach} objects`, async () => {
    await inParallel(many, (at) => client.expect("DELETE", `/api/v1/namespaces/n-${at}`));
    await until(async () => (await itemsOf(client, "/api/v1/namespaces?labelSelector=owned&limit=1")).length === 0);
  });
  return [...cascade, ...deletion];
}

async function removal({ pid, lagUrl = "" }: Served, name: string, remove: () => Promise<void>): Promise<Figure[]> {
  await takeLags(lagUrl);
  const before = cpuSeconds(pid);
  const startMs = performance.now();
  await remove();
  const ms = performance.now() - startMs;
  const note = `${(cpuSeconds(pid) - before).toFixed(1)} s of CPU`;
  const longest = (await takeLags(lagUrl)).reduce((most, one) => Math.max(most, one), 0);
  return [
    { name, value: ms, unit: "ms", note },
    { name: `${name}, longest turn`, value: longest, unit: "CPU ms" },
  ];
}

async function create(client: Client, path: string, metadata: object): Promise<{ uid: string }> {
  const answer = await client.expect("POST", path, JSON.stringify({ metadata }));
  return (JSON.parse(answer.toString()) as { metadata: { uid: string } }).metadata;
}

async function itemsOf(client: Client, path: string): Promise<unknown[]> {
  return (JSON.parse((await client.expect("GET", path)).toString()) as { items: unknown[] }).items;
}

async function inParallel(count: number, one: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: createdAtOnce }, run));
}

async function until(isOver: () => Promise<boolean>): Promise<void> {
  while (!(await isOver())) await Bun.sleep(pollMs);
}
