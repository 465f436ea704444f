import { Client } from "../client.ts";
import { CreateLoad } from "../create-load.ts";
import { PreparedCreates } from "../prepared-creates.ts";
import { cpuSeconds, type Served, type ServedWebhook, serve, serveWebhook, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const connections = 8;
const rounds = 4;
/** Numbers of writers that do not saturate the server. */
const fewWriters = [1, 4];
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/**
 * W16 with webhooks: creations by 64 writers on one replica, without webhooks and with two validating ones that take a
 * millisecond each, in turns; then beside one that never answers and whose failures are ignored; and what two webhooks
 * add to the time of one creation where the server is not saturated and no disk is waited for.
 */
export async function webhooks({ seconds }: Options): Promise<Figure[]> {
  await using hook = await serveWebhook();
  return [...(await saturated(hook, seconds)), ...(await addedTimes(hook, seconds))];
}

async function saturated(hook: ServedWebhook, seconds: number): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  const measured = new Measured(served, 64);
  const { bare, called } = await measured.inTurns(hook, seconds);
  await seenBy(hook);
  await measured.client.expect("POST", configurations, configuration(hook, "hang", ["hang"], "Ignore"));
  const hanging = await measured.run(seconds);
  return [
    { name: "creates, no webhook", value: bare.rate, unit: "/s", note: noteOf(bare) },
    {
      name: "creates, 2 validating webhooks of 1 ms",
      value: called.rate,
      unit: "/s",
      note: `${noteOf(called)}; ${perCall(bare, called)}`,
    },
    {
      name: "creates, 1 webhook that hangs and is ignored",
      value: hanging.rate,
      unit: "/s",
      note: `${noteOf(hanging)}; ${(await seenBy(hook)).hanging} calls waited for`,
    },
  ];
}

/** Measures how much longer a creation takes than the webhooks that it waits for. */
async function addedTimes(hook: ServedWebhook, seconds: number): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path, JSON.stringify({ inMemory: true }));
  const figures: Figure[] = [];
  const bodies = new PreparedCreates({ ownKeys: false });
  for (const writers of fewWriters) {
    const { bare, called, own } = await new Measured(served, writers, bodies).inTurns(hook, seconds);
    figures.push({
      name: `time beyond that of 2 webhooks, ${writers} writing`,
      value: called.p50Ms - bare.p50Ms - own.p50Ms,
      unit: "ms",
      note: `p50 ${bare.p50Ms.toFixed(2)} ms without, ${called.p50Ms.toFixed(2)} ms with webhooks that take ${own.p50Ms.toFixed(2)} ms; p99 ${bare.p99Ms.toFixed(1)}, ${called.p99Ms.toFixed(1)} and ${own.p99Ms.toFixed(1)} ms; ${perCall(bare, called)}`,
    });
  }
  return figures;
}

function perCall(bare: Sample, called: Sample): string {
  return `CPU ${((called.cpuUs - bare.cpuUs) / 2).toFixed(0)} us a call`;
}

interface SeenByWebhook {
  readonly hanging: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Returns what the webhook has seen since the last question. */
async function seenBy({ url, ca }: ServedWebhook): Promise<SeenByWebhook> {
  return (await fetch(`${url}/seen`, { tls: { ca } })).json() as Promise<SeenByWebhook>;
}

function configuration(hook: ServedWebhook, name: string, paths: readonly string[], failurePolicy = "Fail"): string {
  return JSON.stringify({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: paths.map((path) => ({
      name: `${path}.example.com`,
      clientConfig: { url: `${hook.url}/${path}`, caBundle: btoa(hook.ca) },
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy,
      timeoutSeconds: 1,
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    })),
  });
}

interface Sample {
  readonly rate: number;
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

class Measured {
  readonly client: Client;
  readonly load: CreateLoad;
  readonly #pid: number;

  constructor(served: Served, writers: number, bodies = new PreparedCreates({ ownKeys: false })) {
    const clients = Array.from({ length: Math.min(connections, writers) }, () => new Client(served));
    this.client = clients[0] as Client;
    this.load = new CreateLoad({ clients, writers, bodies });
    this.#pid = served.pid;
  }

  /** Measures without and with two webhooks, in turns, after a turn that only compiles the code of both. */
  async inTurns(hook: ServedWebhook, seconds: number): Promise<{ bare: Sample; called: Sample; own: SeenByWebhook }> {
    const [plain, hooked]: [Sample[], Sample[]] = [[], []];
    await this.load.warmUp();
    for (let round = 0; round <= rounds; round++) {
      const bare = await this.run(seconds / rounds);
      await this.client.expect("POST", configurations, configuration(hook, "two", ["a", "b"]));
      if (round === 1) await seenBy(hook);
      const called = await this.run(seconds / rounds);
      await this.client.expect("DELETE", `${configurations}/two`);
      if (round === 0) continue;
      plain.push(bare);
      hooked.push(called);
    }
    return { bare: leastDisturbed(plain), called: leastDisturbed(hooked), own: await seenBy(hook) };
  }

  async run(seconds: number): Promise<Sample> {
    const before = { cpu: cpuSeconds(this.#pid), ms: performance.now() };
    const latenciesMs = await this.load.run(seconds * 1_000);
    const elapsed = (performance.now() - before.ms) / 1_000;
    return {
      rate: latenciesMs.length / elapsed,
      cpuUs: (1e6 * (cpuSeconds(this.#pid) - before.cpu)) / latenciesMs.length,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
    };
  }
}

/** Returns each figure of the round that other work on the machine has disturbed least. */
function leastDisturbed(samples: readonly Sample[]): Sample {
  const least = (pick: (sample: Sample) => number) => Math.min(...samples.map(pick));
  return {
    rate: Math.max(...samples.map(({ rate }) => rate)),
    cpuUs: least(({ cpuUs }) => cpuUs),
    p50Ms: least(({ p50Ms }) => p50Ms),
    p99Ms: least(({ p99Ms }) => p99Ms),
  };
}

function noteOf({ p50Ms, p99Ms, cpuUs }: Sample): string {
  return `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(1)} ms, CPU ${cpuUs.toFixed(0)} us each`;
}
