import { Client } from "./client.ts";
import type { ComparedServer } from "./compared-server.ts";
import { collection, document, encodedDocument, jsonType, objectName, protobufType } from "./documents.ts";
import { load } from "./load.ts";
import { podBody, podCollection, podName, podStatusPatch, strategicPatch } from "./pods.ts";
import { startCrowd } from "./start-crowd.ts";

/** One kind of request. */
export interface ComparedWork {
  readonly name: string;
  /** Sends requests for about this long. */
  run(server: ComparedServer, seconds: number): Promise<Work>;
}

interface Work {
  /** Number of answers, or of events that arrived. */
  readonly count: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const pods = 1_000;
const writers = 64;
const connections = 4;
const watchers = { connections: 10, streams: 100 };
const watcherCount = watchers.connections * watchers.streams;
const watchedObjects = 100;
const createdAtOnce = 64;
/** Time in which all watchers start, or the last events arrive. */
const settleMs = 1_500;
const warmUpSeconds = 0.5;
/** Number of writes until a server's code is compiled: the first ones cost up to twice as much. */
const warmUpWrites = 10_000;
/** Limit for a server that would take too long. */
const warmUpWriteSeconds = 20;

/** Creates the objects that the works need, unless they exist. */
export async function prepare(server: ComparedServer, objects: number): Promise<void> {
  using client = new Client(server);
  // Pods need it, and a server without controllers does not make it.
  await createIfAbsent(client, "/api/v1/namespaces/default/serviceaccounts", '{"metadata":{"name":"default"}}');
  await inParallel(objects, async (number) => {
    await createIfAbsent(client, collection, JSON.stringify(document(number)));
  });
  await inParallel(pods, async (number) => {
    await createIfAbsent(client, podCollection, podBody(number));
  });
}

/** Deletes everything that was created. */
export async function cleanUp(server: ComparedServer): Promise<void> {
  using client = new Client(server);
  await client.expect("DELETE", `${collection}?labelSelector=app%3Dbench`);
  await client.expect("DELETE", `${podCollection}?labelSelector=tier%3Dweb`, '{"gracePeriodSeconds":0}');
}

/** Returns the works, for a collection of a number of objects. */
export function comparedWorks(objects: number): ComparedWork[] {
  const paths = Array.from({ length: objects }, (_, at) => `${collection}/${objectName((at * 7919) % objects)}`);
  return [
    ...inBothForms("GET, 256 streams", paths, { connections: 8, streams: 32 }),
    ...inBothForms("GET, one at a time", paths, { connections: 1, streams: 1 }),
    ...inBothForms("LIST", [collection], { connections: 1, streams: 1 }),
    ...inBothForms("page of 500", [`${collection}?limit=500`], { connections: 1, streams: 1 }),
    ...inBothForms("LIST selecting 1 %", [`${collection}?labelSelector=shard%3Ds7`], { connections: 1, streams: 1 }),
    ...inBothForms("LIST selecting none", [`${collection}?labelSelector=shard%3Dnone`], { connections: 1, streams: 1 }),
    ...[1, 64, 256].map((clients) => creation(`CREATE, ${clients} at a time`, clients, jsonType)),
    creation(`CREATE, ${writers} at a time, protobuf`, writers, protobufType),
    replacement(objects),
    statusPatch(),
    delivery(),
  ];
}

function inBothForms(
  name: string,
  paths: readonly string[],
  shape: { readonly connections: number; readonly streams: number },
): ComparedWork[] {
  return [
    ["", jsonType],
    [", protobuf", protobufType],
  ].map(([suffix, accept]) => ({
    name: `${name}${suffix}`,
    run: async (server, seconds) => {
      const options = { paths, ...shape, headers: { accept: accept ?? "" } };
      const requests = await requestsIn(seconds, shape.connections * shape.streams, (count) =>
        load(server, { ...options, requests: count }),
      );
      return measured(server, async () => {
        await load(server, { ...options, requests });
        return requests;
      });
    },
  }));
}

/**
 * Returns the number of requests that take about this long, and warms the server up. Not a time, because a list that is
 * interrupted at its end costs CPU and does not count.
 */
async function requestsIn(seconds: number, least: number, send: (count: number) => Promise<unknown>): Promise<number> {
  for (let count = least; ; count *= 4) {
    const startMs = performance.now();
    await send(count);
    const elapsed = (performance.now() - startMs) / 1_000;
    if (elapsed >= warmUpSeconds) return Math.max(least, Math.round((count * seconds) / elapsed));
  }
}

function creation(name: string, clients: number, type: string): ComparedWork {
  const prefix = `made-${Date.now().toString(36)}-${clients}-${type === jsonType ? "j" : "p"}`;
  let count = 0;
  const one = async (client: Client) => {
    const number = count++;
    const object = document(number);
    object.metadata.name = `${prefix}-${number}`;
    const headers = { "content-type": type, accept: type };
    await client.expect("POST", collection, encodedDocument(object, type), headers);
  };
  return { name, run: (server, seconds) => write({ server, what: `POST ${type}`, one }, clients, seconds) };
}

function replacement(objects: number): ComparedWork {
  let count = 0;
  return {
    name: `PUT, ${writers} at a time`,
    run: (server, seconds) => {
      const one = (client: Client) => replace(client, count++, objects);
      return write({ server, what: "PUT", one }, writers, seconds);
    },
  };
}

async function replace(client: Client, count: number, objects: number): Promise<void> {
  const number = count % objects;
  const object = document(number) as unknown as { data: Record<string, string> };
  object.data = { ...object.data, count: String(count) };
  await client.expect("PUT", `${collection}/${objectName(number)}`, JSON.stringify(object));
}

function statusPatch(): ComparedWork {
  let count = 0;
  return {
    name: `strategic patch of a pod's status, ${writers} at a time`,
    run: (server, seconds) => {
      const one = async (client: Client) => {
        const at = count++;
        const path = `${podCollection}/${podName(at % pods)}/status`;
        await client.expect("PATCH", path, podStatusPatch(at), strategicPatch);
      };
      return write({ server, what: "PATCH", one }, writers, seconds);
    },
  };
}

/** PUTs beside a thousand watchers. The PUTs are counted in the CPU time, and cost little beside the events. */
function delivery(): ComparedWork {
  let count = 0;
  return {
    name: `event to ${watcherCount} watchers`,
    run: async (server, seconds) => {
      const writing: Writing = { server, what: "PUT", one: (client) => replace(client, count++, watchedObjects) };
      await warmUp(writing);
      // The version is that of the list, because without one each watcher would first get all objects.
      using client = new Client(server);
      const list = JSON.parse((await client.expect("GET", `${collection}?limit=1`)).toString()) as {
        metadata: { resourceVersion: string };
      };
      const watchSeconds = seconds + (2 * settleMs) / 1_000;
      const { resourceVersion } = list.metadata;
      const crowd = startCrowd(server, { ...watchers, seconds: watchSeconds, resourceVersion });
      await Bun.sleep(settleMs);
      const cpuBefore = server.cpuSeconds();
      const { seconds: writeSeconds } = await write(writing, writers, seconds);
      const received = await crowd.received();
      return { count: received, cpuSeconds: server.cpuSeconds() - cpuBefore, seconds: writeSeconds };
    },
  };
}

/** A kind of write, which a server has to have done often before it is measured. */
interface Writing {
  readonly server: ComparedServer;
  /** Name of the code that the server runs for it. */
  readonly what: string;
  readonly one: (client: Client) => Promise<void>;
}

/** The writings that each server has been warmed up for. */
const warm = new WeakMap<ComparedServer, Set<string>>();

/** Runs writers, each of which starts as soon as its previous write is acknowledged. */
async function write(writing: Writing, clients: number, seconds: number): Promise<Work> {
  await warmUp(writing);
  return measured(writing.server, () => runWriters(writing, clients, seconds));
}

async function warmUp(writing: Writing): Promise<void> {
  const { server, what } = writing;
  const done = warm.get(server) ?? new Set();
  if (!done.has(what)) await runWriters(writing, writers, warmUpWriteSeconds, warmUpWrites);
  warm.set(server, done.add(what));
}

/** Returns the number of writes. */
async function runWriters(
  { server, one }: Writing,
  clients: number,
  seconds: number,
  countMax = Number.POSITIVE_INFINITY,
): Promise<number> {
  const opened = Array.from({ length: Math.min(clients, connections) }, () => new Client(server));
  const endMs = performance.now() + seconds * 1_000;
  let done = 0;
  const writer = async (number: number) => {
    for (; performance.now() < endMs && done < countMax; done++) await one(opened[number % opened.length] as Client);
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => writer(number)));
  for (const client of opened) client[Symbol.dispose]();
  return done;
}

async function measured(server: ComparedServer, run: () => Promise<number>): Promise<Work> {
  const before = { cpu: server.cpuSeconds(), ms: performance.now() };
  const count = await run();
  const seconds = (performance.now() - before.ms) / 1_000;
  return { count, cpuSeconds: server.cpuSeconds() - before.cpu, seconds };
}

async function createIfAbsent(client: Client, path: string, body: string): Promise<void> {
  const { code, body: answer } = await client.request("POST", path, body);
  const exists = code === 409;
  if (code >= 300 && !exists) throw new Error(`POST ${path}: ${code} ${answer.toString().slice(0, 200)}`);
}

async function inParallel(count: number, one: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: createdAtOnce }, run));
}
