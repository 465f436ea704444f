import { Client } from "../client.ts";
import {
  collection,
  document,
  encodedDocument,
  jsonType as json,
  objectName,
  protobufType as protobuf,
  seedDirectory,
} from "../documents.ts";
import { load } from "../load.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 10_000;
const asMetadata = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const asTable = ";as=Table;v=v1;g=meta.k8s.io";
const forms = [
  ["JSON", json],
  ["protobuf", protobuf],
  ["metadata", json + asMetadata],
  ["metadata in protobuf", protobuf + asMetadata],
  ["a table", json + asTable],
] as const;
/** Rounds, of which the cheapest counts. */
const rounds = 3;
const gets = 5_000;
const creations = 3_000;
const writers = 64;

/** W2-forms: CPU of the server for lists, GETs and creations in each form, compared with the same in JSON. */
export async function otherForms({ scale }: Options): Promise<Figure[]> {
  const count = Math.round(objects * scale);
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, count);
  await using served = await serve("server", directory.path);
  const get = (paths: readonly string[], requests: number, accept: string) => () =>
    load(served, { paths, requests, connections: 1, streams: requests < gets ? 1 : 32, headers: { accept } });

  const figures: Figure[] = [];
  const reads = [
    ["list", [collection], 10],
    ["page of 500", [`${collection}?limit=500`], 100],
    ["list that selects 1 %", [`${collection}?labelSelector=shard%3Ds7`], 100],
  ] as const;
  for (const [form, accept] of forms) {
    const firstMs = await cpuMsOf(served, get([collection], 1, accept));
    figures.push({ name: `list in ${form}, first reader`, value: firstMs, unit: "ms" });
  }
  for (const [name, paths, requests] of reads) {
    figures.push(...(await compared(served, name, requests, ([, accept]) => get(paths, requests, accept))));
  }
  const paths = Array.from({ length: gets }, (_, at) => `${collection}/${objectName((at * 7919) % count)}`);
  const objectForms = forms.slice(0, 2);
  figures.push(...(await compared(served, "GET", gets, ([, accept]) => get(paths, gets, accept), objectForms)));
  using client = new Client(served);
  const create = createsOf(client, count);
  figures.push(
    ...(await compared(
      served,
      "creation",
      creations,
      ([, type]) =>
        () =>
          create(type),
      objectForms,
    )),
  );
  return figures;
}

type Form = (typeof forms)[number];

/** Measures a request in each form, in turn, because the load of the machine changes. */
async function compared(
  served: Served,
  name: string,
  requests: number,
  runOf: (form: Form) => () => Promise<unknown>,
  measured: readonly Form[] = forms,
): Promise<Figure[]> {
  const best = new Map<Form, number>();
  for (let round = 0; round < rounds; round++) {
    for (const form of measured) {
      const ms = (await cpuMsOf(served, runOf(form))) / requests;
      best.set(form, Math.min(ms, best.get(form) ?? Number.POSITIVE_INFINITY));
    }
  }
  const ofJson = best.get(forms[0]) as number;
  return [...best].map(([[form], ms]) => ({
    name: `${name} in ${form}`,
    value: ms,
    unit: "ms",
    note: `${(ms / ofJson).toFixed(2)} of JSON`,
  }));
}

async function cpuMsOf(served: Served, run: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(served.pid);
  await run();
  return 1e3 * (cpuSeconds(served.pid) - before);
}

/** Returns a function that creates ConfigMaps with bodies of a media type, and asks for answers of the same type. */
function createsOf(client: Client, first: number): (type: string) => Promise<void> {
  let number = first;
  return async (type) => {
    const bodies = Array.from({ length: creations }, () => encodedDocument(document(number++), type));
    const write = async () => {
      for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
        await client.expect("POST", collection, body, { "content-type": type, accept: type });
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
  };
}
