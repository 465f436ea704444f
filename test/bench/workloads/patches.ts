import { Client } from "../client.ts";
import { podBody, podCollection, podName, podStatusPatch, strategicPatch } from "../pods.ts";
import { cpuSeconds, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { startCrowd } from "../start-crowd.ts";

const pods = 1_000;
const writersSteps = [10, 32] as const;
const watchers = 10;

/** W5: strategic merge patches of the status of 1,000 pods, as kubelets send them, with ten watchers. */
export async function patches({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using client = new Client(served);
  await untilAccount(client);
  await Promise.all(Array.from({ length: pods }, (_, number) => client.expect("POST", podCollection, podBody(number))));
  const bytes = (await client.expect("GET", `${podCollection}/${podName(0)}`)).byteLength;
  const watched = {
    connections: 1,
    streams: watchers,
    seconds: (writersSteps.length + 1) * (seconds + 1),
    collection: podCollection,
  };
  const crowd = startCrowd(served, watched);

  let number = 0;
  const latenciesMs: number[] = [];
  const saturate = async (writers: number, milliseconds: number) => {
    const endMs = performance.now() + milliseconds;
    const write = async () => {
      while (performance.now() < endMs) {
        const at = number++;
        const sentMs = performance.now();
        await client.expect(
          "PATCH",
          `${podCollection}/${podName(at % pods)}/status`,
          podStatusPatch(at),
          strategicPatch,
        );
        latenciesMs.push(performance.now() - sentMs);
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
  };
  await saturate(10, 1_000);
  const figures: Figure[] = [];
  for (const writers of writersSteps) {
    latenciesMs.length = 0;
    const before = { cpu: cpuSeconds(served.pid), ms: performance.now() };
    await saturate(writers, seconds * 1_000);
    const elapsed = (performance.now() - before.ms) / 1_000;
    const cpu = (1e6 * (cpuSeconds(served.pid) - before.cpu)) / latenciesMs.length;
    figures.push({
      name: `status patches, ${writers} writers`,
      value: latenciesMs.length / elapsed,
      unit: "/s",
      note: `p99 ${percentile(latenciesMs, 0.99).toFixed(1)} ms, CPU ${cpu.toFixed(0)} us each with ${watchers} watchers, pods of ${bytes} B`,
    });
  }
  await crowd.received();
  return figures;
}

async function untilAccount(client: Client): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  while ((await client.request("GET", path)).code !== 200) await Bun.sleep(10);
}
