import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import type { ProviderConfiguration } from "../encryption-configuration.ts";
import type { Transformer } from "../transformer.ts";
import { seedId, seedTypes } from "./encrypted-object.ts";
import { EnvelopeTransformer } from "./envelope-transformer.ts";
import { GrpcKeyService } from "./grpc-key-service.ts";
import type { KeyService } from "./key-service.ts";
import type { KeyServiceObserver } from "./key-service-observer.ts";
import { SeedCache } from "./seed-cache.ts";
import { WriteSeedSource } from "./write-seed.ts";

export type KmsConfiguration = Extract<ProviderConfiguration, { kind: "kms" }>;

export interface KeyServicesOptions {
  readonly clock: Clock;
  readonly observer: KeyServiceObserver;
  /** Called when values may have become readable, or unreadable for another reason. */
  readonly onReadable: () => void;
  readonly onUnhealthy: (provider: string, error: unknown) => void;
  /** The services before a reload. Their seeds stay known. */
  readonly before?: KeyServices | undefined;
  /** Connects to a service; over gRPC if undefined. */
  readonly connect?: (configuration: KmsConfiguration) => KeyService;
}

interface OpenProvider {
  readonly transformer: Transformer;
  readonly seeds: SeedCache;
  readonly writing: WriteSeedSource;
}

/** The key services of a configuration. */
export class KeyServices implements Disposable {
  /** Time after which no call is under way any more. */
  readonly graceMs: number;
  readonly #providers = new Map<string, OpenProvider>();
  readonly #parts = new DisposableStack();

  /** @throws Error with upstream's message for a socket that cannot be used */
  constructor(configurations: readonly KmsConfiguration[], options: KeyServicesOptions) {
    this.graceMs = 2 * configurations.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);
    for (const configuration of configurations) {
      this.#providers.set(configuration.name, this.#open(configuration, options));
    }
  }

  /** The transformers by the names of their providers. */
  get transformers(): ReadonlyMap<string, Transformer> {
    return new Map([...this.#providers].map(([name, { transformer }]) => [name, transformer]));
  }

  /** Makes the first seeds, and begins to check the services. Resolves after the first checks, whatever they find. */
  async start(): Promise<void> {
    await Promise.all([...this.#providers.values()].map(({ writing }) => writing.start()));
  }

  /** Resolves when all seeds that have been asked for are known or have failed. */
  async idle(): Promise<void> {
    await Promise.all([...this.#providers.values()].map(({ seeds }) => seeds.idle()));
  }

  /** Rejects if a service is not healthy. */
  async check(): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#providers.values()].map(({ writing }) => writing.check()));
    const problems = outcomes.flatMap((outcome, at) =>
      outcome.status === "rejected" ? [`kms-provider-${at}: ${thrownText(outcome.reason)}`] : [],
    );
    if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`);
  }

  [Symbol.dispose](): void {
    this.#parts[Symbol.dispose]();
  }

  #open(configuration: KmsConfiguration, options: KeyServicesOptions): OpenProvider {
    const { clock, observer, onReadable, onUnhealthy, before } = options;
    const provider = configuration.name;
    const connect =
      options.connect ??
      ((to: KmsConfiguration) =>
        new GrpcKeyService({ provider, path: socketPath(to), timeoutMs: to.timeoutMs, observer }));
    const service = this.#parts.use(connect(configuration));
    const seeds = this.#parts.use(
      new SeedCache({
        clock,
        onNews: onReadable,
        onCount: (count) => observer.seedsKnown(provider, count),
        before: before === undefined ? undefined : before.#providers.get(provider)?.seeds,
      }),
    );
    const writing = this.#parts.use(
      new WriteSeedSource({
        provider,
        service,
        clock,
        observer,
        onRotated({ cipher, seed }) {
          seeds.add(seedId(seed, seedTypes.seed), cipher);
          onReadable();
        },
        onUnhealthy: (error) => onUnhealthy(provider, error),
      }),
    );
    return { transformer: new EnvelopeTransformer({ provider, service, seeds, writing, observer }), seeds, writing };
  }
}

/** Returns the path in a `unix://` endpoint. */
function socketPath({ name, endpoint }: KmsConfiguration): string {
  const { pathname } = new URL(endpoint);
  const path = decodeURIComponent(pathname);
  if (!path.startsWith("/@")) return path;
  const reason = "abstract sockets are not supported, use the path of a file";
  throw new Error(`could not configure KMSv2-Plugin's probe ${JSON.stringify(name)}, error: ${reason}`);
}
