import { Client } from "../client.ts";
import { seedDirectory } from "../documents.ts";
import { type LargeBody, largeBodies } from "../large-bodies.ts";
import { takeLags } from "../loop-lag.ts";
import { modestLatency } from "../modest-client.ts";
import { serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";

const objects = 1_000;
const clients = 16;
/** Times that each body is sent, of which the shortest turn counts: the others compile code or wait for the machine. */
const repetitions = 4;
const settleMs = 20;

/** W18: bodies near the limits: the longest turn of the event loop for each, and the p99 of a modest client beside 16 of their senders. */
export async function largeRequests({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await seedDirectory(directory.path, objects);
  const options = JSON.stringify({ authorizationMode: ["AlwaysAllow"], featureGates: { CBORServingAndStorage: true } });
  await using served = await serve("metered", directory.path, options);
  const { lagUrl = "" } = served;
  using client = new Client(served);
  const bodies = largeBodies();
  const figures: Figure[] = [];
  for (const body of bodies) {
    const turns: number[] = [];
    let code = 0;
    for (let at = 0; at < repetitions; at++) {
      await takeLags(lagUrl);
      code = await send(client, body);
      await Bun.sleep(settleMs);
      turns.push(Math.max(0, ...(await takeLags(lagUrl))));
    }
    const note = `answered ${code}, ${(body.body.length / 1e6).toFixed(1)} MB`;
    figures.push({ name: `longest turn, ${body.name}`, value: Math.min(...turns), unit: "CPU ms", note });
  }
  const endMs = performance.now() + seconds * 1_000;
  const greedy = Array.from({ length: clients }, async (_, number) => {
    using own = new Client(served);
    for (let at = number; performance.now() < endMs; at++) await send(own, bodies[at % bodies.length] as LargeBody);
  });
  const { wallMs, cpuMs } = await modestLatency(client, served, seconds);
  await Promise.all(greedy);
  const name = `p99 of a modest client beside ${clients} that send them`;
  return [...figures, { name, value: wallMs, unit: "ms" }, { name, value: cpuMs, unit: "CPU ms" }];
}

async function send(client: Client, { method, path, type, body }: LargeBody): Promise<number> {
  const headers = { "content-type": type, "impersonate-user": "greedy" };
  const apply = type.startsWith("application/apply") ? "?fieldManager=large&force=true" : "";
  const { code } = await client.request(method, path + apply, body, headers);
  if (code < 300 && method === "POST") await client.request("DELETE", `${path}/large`);
  return code;
}
