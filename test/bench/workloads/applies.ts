import { Client } from "../client.ts";
import { deploymentDocument, deploymentName } from "../deployments.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";
import { measureTrackedCreates, type TrackedCreates } from "../tracked-creates.ts";

const deployments = 100;
const writers = 16;
const warmUpRounds = 10;
const collection = "/apis/apps/v1/namespaces/default/deployments";
const applyPatch = { "content-type": "application/apply-patch+yaml" };
const mergePatch = { "content-type": "application/merge-patch+json" };

/**
 * W16: the cost of field ownership. Compares applies of a Deployment of 2 KiB with three managers with PUTs of the same
 * Deployment. Compares creations with and without tracking, both through HTTP and in this process.
 */
export async function applies({ seconds }: Options): Promise<Figure[]> {
  const { put, apply, bytes } = await measureWrites(seconds);
  const served = await measureServedCreates(seconds);
  const { tracked, untracked } = await measureTrackedCreates(seconds);
  return [
    {
      name: "CPU of an apply",
      value: apply / put,
      unit: "PUTs",
      note: `${apply.toFixed(0)} us, a PUT ${put.toFixed(0)} us, Deployments of ${bytes} B with three managers`,
    },
    {
      name: "CPU of a create with tracking",
      value: served.tracked / served.untracked,
      unit: "without",
      note: `${served.tracked.toFixed(0)} us, without ${served.untracked.toFixed(0)} us`,
    },
    {
      name: "the same without HTTP",
      value: tracked / untracked,
      unit: "without",
      note: `${tracked.toFixed(0)} us, without ${untracked.toFixed(0)} us`,
    },
  ];
}

/** Creates on two servers in turns. Only one of them tracks fields. */
async function measureServedCreates(seconds: number): Promise<TrackedCreates> {
  await using directory = await temporaryDirectory();
  const options = JSON.stringify({ inMemory: true });
  await using tracking = await serve("server", directory.path, options);
  await using plain = await serve("untracked", `${directory.path}/plain`, options);
  using trackingClient = new Client(tracking);
  using plainClient = new Client(plain);
  const spent = { tracked: 0, untracked: 0 };
  let written = 0;
  const create = async (served: Served, client: Client) => {
    const documents = Array.from({ length: deployments }, (_, at) => JSON.stringify(deploymentDocument(at)));
    const cpu = await cpuOf(served, (at) => client.expect("POST", collection, documents[at]));
    await client.expect("DELETE", collection);
    return cpu;
  };
  const round = async () => {
    spent.tracked += await create(tracking, trackingClient);
    spent.untracked += await create(plain, plainClient);
    written += deployments;
  };
  for (let number = 0; number < 2 * warmUpRounds; number++) await round();
  [spent.tracked, spent.untracked, written] = [0, 0, 0];
  const endMs = performance.now() + 2 * seconds * 1_000;
  while (performance.now() < endMs) await round();
  return { tracked: (1e6 * spent.tracked) / written, untracked: (1e6 * spent.untracked) / written };
}

async function measureWrites(seconds: number): Promise<{ put: number; apply: number; bytes: number }> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path, JSON.stringify({ inMemory: true }));
  using client = new Client(served);
  await forEach((number) => prepare(client, number));
  const bytes = (await client.expect("GET", pathOf(0))).byteLength;
  const spent = { put: 0, apply: 0 };
  let written = 0;
  const round = async (number: number) => {
    const bodies: string[] = [];
    await forEach(async (at) => {
      bodies[at] = changed(String(await client.expect("GET", pathOf(at))), number);
    });
    spent.put += await cpuOf(served, (at) => client.expect("PUT", pathOf(at), bodies[at]));
    const documents = bodies.map((_, at) => JSON.stringify(deploymentDocument(at, `2.${number}`)));
    const target = (at: number) => `${pathOf(at)}?fieldManager=gitops&force=true`;
    spent.apply += await cpuOf(served, (at) => client.expect("PATCH", target(at), documents[at], applyPatch));
    written += deployments;
  };
  for (let number = 0; number < warmUpRounds; number++) await round(number);
  [spent.put, spent.apply, written] = [0, 0, 0];
  const endMs = performance.now() + 2 * seconds * 1_000;
  for (let number = warmUpRounds; performance.now() < endMs; number++) await round(number);
  return { put: (1e6 * spent.put) / written, apply: (1e6 * spent.apply) / written, bytes };
}

/** Runs a request for each Deployment, a few at a time. */
async function forEach(request: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const write = async () => {
    while (next < deployments) await request(next++);
  };
  await Promise.all(Array.from({ length: writers }, write));
}

function pathOf(number: number): string {
  return `${collection}/${deploymentName(number)}`;
}

/** Makes a Deployment that one manager created and another applies, and whose status a third one maintains. */
async function prepare(client: Client, number: number): Promise<void> {
  const document = JSON.stringify(deploymentDocument(number));
  await client.expect("POST", `${collection}?fieldManager=kubectl-create`, document);
  await client.expect("PATCH", `${pathOf(number)}?fieldManager=gitops&force=true`, document, applyPatch);
  const status = { replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  const target = `${pathOf(number)}/status?fieldManager=kube-controller-manager`;
  await client.expect("PATCH", target, JSON.stringify({ status }), mergePatch);
}

/** Returns the Deployment with another number in its template. */
function changed(text: string, round: number): string {
  return text.replace(/"terminationGracePeriodSeconds":\d+/, `"terminationGracePeriodSeconds":${31 + (round % 2)}`);
}

/** Returns the server's CPU seconds for a request to each Deployment. */
async function cpuOf(served: Served, request: (at: number) => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(served.pid);
  await forEach(request);
  return cpuSeconds(served.pid) - before;
}
