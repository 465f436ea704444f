import { TlsService } from "../../integration/tls-service.ts";
import { Client } from "../client.ts";
import { CreateLoad } from "../create-load.ts";
import { PreparedCreates } from "../prepared-creates.ts";
import { cpuSeconds, type Served, serve, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const connections = 8;
const writers = 64;
const rounds = 4;
const hookMs = 1;
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string };
}

/**
 * W16 with webhooks: creations by 64 writers on one replica, without webhooks and with two validating ones that take a
 * millisecond each, in turns; then beside one that never answers and whose failures are ignored.
 */
export async function webhooks({ seconds }: Options): Promise<Figure[]> {
  let calls = 0;
  await using hook = new TlsService(async (request) => {
    calls++;
    const { apiVersion, request: asked } = (await request.json()) as Review;
    if (request.url.includes("/hang")) return new Promise<Response>(() => undefined);
    await Bun.sleep(hookMs);
    return Response.json({ apiVersion, kind: "AdmissionReview", response: { uid: asked.uid, allowed: true } });
  });
  await using directory = await temporaryDirectory();
  await using served = await serve("server", directory.path);
  const measured = new Measured(served);
  const [plain, hooked]: [Sample[], Sample[]] = [[], []];
  await measured.load.warmUp();
  for (let round = 0; round < rounds; round++) {
    plain.push(await measured.run(seconds / rounds));
    await measured.client.expect("POST", configurations, configuration(hook, "two", ["a", "b"]));
    hooked.push(await measured.run(seconds / rounds));
    await measured.client.expect("DELETE", `${configurations}/two`);
  }
  const before = calls;
  await measured.client.expect("POST", configurations, configuration(hook, "hang", ["hang"], "Ignore"));
  const hanging = await measured.run(seconds);
  const hangs = calls - before;
  const [bare, called] = [joined(plain), joined(hooked)];
  const perCall = (called.cpuUs - bare.cpuUs) / 2;
  return [
    { name: "creates, no webhook", value: bare.rate, unit: "/s", note: noteOf(bare) },
    {
      name: "creates, 2 validating webhooks of 1 ms",
      value: called.rate,
      unit: "/s",
      note: `${noteOf(called)}; p50 ${(called.p50Ms - bare.p50Ms).toFixed(2)} ms more, CPU ${perCall.toFixed(0)} us a call`,
    },
    {
      name: "creates, 1 webhook that hangs and is ignored",
      value: hanging.rate,
      unit: "/s",
      note: `${noteOf(hanging)}; ${hangs} calls waited for`,
    },
  ];
}

function configuration(hook: TlsService, name: string, paths: readonly string[], failurePolicy = "Fail"): string {
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

  constructor(served: Served) {
    const clients = Array.from({ length: connections }, () => new Client(served));
    this.client = clients[0] as Client;
    this.load = new CreateLoad({ clients, writers, bodies: new PreparedCreates({ ownKeys: false }) });
    this.#pid = served.pid;
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

/** Returns the mean of the rounds, which have equal length. */
function joined(samples: readonly Sample[]): Sample {
  const mean = (pick: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + pick(sample), 0) / samples.length;
  return {
    rate: mean(({ rate }) => rate),
    cpuUs: mean(({ cpuUs }) => cpuUs),
    p50Ms: mean(({ p50Ms }) => p50Ms),
    p99Ms: mean(({ p99Ms }) => p99Ms),
  };
}

function noteOf({ p50Ms, p99Ms, cpuUs }: Sample): string {
  return `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(1)} ms, CPU ${cpuUs.toFixed(0)} us each`;
}
