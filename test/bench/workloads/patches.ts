import { Client } from "../client.ts";
import { cpuSeconds, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";
import { startCrowd } from "../start-crowd.ts";

const pods = 1_000;
const writersSteps = [10, 32] as const;
const watchers = 10;
const collection = "/api/v1/namespaces/default/pods";
const strategicPatch = { "content-type": "application/strategic-merge-patch+json" };

/** W5: strategic merge patches of the status of 1,000 pods, as kubelets send them, with ten watchers. */
export async function patches({ seconds }: Options): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  using client = new Client(served);
  await untilAccount(client);
  await Promise.all(Array.from({ length: pods }, (_, number) => client.expect("POST", collection, pod(number))));
  const bytes = (await client.expect("GET", `${collection}/${name(0)}`)).byteLength;
  const watched = { connections: 1, streams: watchers, seconds: (writersSteps.length + 1) * (seconds + 1), collection };
  const crowd = startCrowd(served, watched);

  let number = 0;
  const latenciesMs: number[] = [];
  const saturate = async (writers: number, milliseconds: number) => {
    const endMs = performance.now() + milliseconds;
    const write = async () => {
      while (performance.now() < endMs) {
        const at = number++;
        const sentMs = performance.now();
        await client.expect("PATCH", `${collection}/${name(at % pods)}/status`, status(at), strategicPatch);
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

function name(number: number): string {
  return `pod-${String(number).padStart(5, "0")}`;
}

function pod(number: number): string {
  const container = (containerName: string) => ({
    name: containerName,
    image: `registry.example/team/${containerName}:1.${number}`,
    args: ["--listen=:8080", `--shard=${number}`],
    env: Array.from({ length: 6 }, (_, at) => ({ name: `SETTING_${at}`, value: `value-${number}-${at}` })),
    ports: [{ containerPort: 8080 + containerName.length }],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
  });
  const labels = { app: `app-${number % 50}`, tier: "web", release: `r${number % 7}` };
  return JSON.stringify({
    metadata: { name: name(number), labels },
    spec: { nodeName: `node-${number % 20}`, containers: [container("main"), container("sidecar")] },
  });
}

function status(at: number): string {
  const time = new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString().slice(0, 19);
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: at % 2 === 0 ? "True" : "False",
    lastProbeTime: null,
    lastTransitionTime: `${time}Z`,
  }));
  return JSON.stringify({ status: { phase: "Running", podIP: `10.0.${at % 200}.${(at >> 8) % 200}`, conditions } });
}
