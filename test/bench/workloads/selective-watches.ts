import { Client } from "../client.ts";
import { collection } from "../documents.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import type { Figure, Options } from "../report.ts";
import { Updates } from "../updates.ts";

const connections = 10;
const watchesPerConnection = 100;
const objects = 100;
const writers = 8;
const settleMs = 1_000;

/** W6-selective: updates beside 1,000 watches that each select one name or label, compared with updates alone. */
export async function selectiveWatches({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using writer = new Client(served);
  const updates = new Updates(writer, objects);
  await updates.create();
  await updates.saturate(writers, seconds);

  const figures: Omit<Figure, "ceiling">[] = [];
  for (const [name, selector] of [
    ["by label", "labelSelector=shard%3Dnone-"],
    ["by name", "fieldSelector=metadata.name%3Dnone-"],
  ] as const) {
    const clients = Array.from({ length: connections }, () => new Client(served));
    clients.forEach((client, number) => {
      for (let stream = 0; stream < watchesPerConnection; stream++) {
        client.open("GET", `${collection}?watch=1&${selector}${number * watchesPerConnection + stream}`);
      }
    });
    await Bun.sleep(settleMs);
    figures.push({
      name: `updates per CPU second beside ${connections * watchesPerConnection} watches ${name}`,
      value: await perCpuSecond(served, updates, seconds),
      unit: "",
      note: "the ceiling is without watches",
    });
    for (const client of clients) client[Symbol.dispose]();
    await Bun.sleep(settleMs);
  }
  const ceiling = await perCpuSecond(served, updates, seconds);
  return figures.map((figure) => ({ ...figure, ceiling }));
}

async function perCpuSecond(served: Served, updates: Updates, seconds: number): Promise<number> {
  const before = { count: updates.count, cpu: cpuSeconds(served.pid) };
  await updates.saturate(writers, seconds);
  return (updates.count - before.count) / (cpuSeconds(served.pid) - before.cpu);
}
