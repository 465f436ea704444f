import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveForwarded } from "../../http/forwarding/serve-forwarded.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { Log } from "../../process/logs.ts";
import type { HttpResponse, IncomingRequest } from "../../request/exchange.ts";
import type { LogSource } from "../../storage/replicated/log-source.ts";
import { MirrorFeed } from "../../storage/replicated/mirror/mirror-feed.ts";
import { mirrorSocket, requestSocket, type ServingStart } from "./messages.ts";
import { ServingProcess } from "./serving-process.ts";

/** Delay before a process is replaced. It doubles while its successors end before they have lived for some time. */
const replaceMsMin = 100;
const replaceMsMax = 30_000;
/** Life after which a process counts as sound. */
const soundMs = 30_000;
/** Time that a process has to end after its requests. */
const endMsMax = 2_000;

export interface ServingProcessesParts {
  readonly count: number;
  /** The command line of a serving process. */
  readonly command: readonly string[];
  readonly options: ServingStart["options"];
  readonly port: number;
  readonly source: LogSource;
  /** Answers the requests that only this process can answer. */
  readonly handle: (request: IncomingRequest) => Eventual<HttpResponse>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onIssuerKeyWithdrawn: () => void;
}

/** The serving processes of a server that has none. */
export const noServingProcesses: ServingProcesses = {
  ready: () => 0,
  leave() {},
  doubtIssuerKeys() {},
  rereadCertificates: async () => undefined,
  metrics: async () => [],
  stop: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

/** The further processes that serve the API of this server. One that ends is replaced. */
export interface ServingProcesses extends AsyncDisposable {
  /** Returns the number of processes that accept requests. */
  ready(): number;
  /** Makes their `/readyz` fail from now on. */
  leave(): void;
  /** Lets them ask issuers of ID tokens for their keys again. */
  doubtIssuerKeys(): void;
  /** Resolves when they use the certificates in the data directory. */
  rereadCertificates(): Promise<void>;
  /** Returns their metrics, and resets them first if asked. Callers at the same time share one answer. */
  metrics(reset: boolean): Promise<string[]>;
  /** Lets their requests end, for at most `graceMs`, and stops them. */
  stop(graceMs: number): Promise<void>;
}

/** Starts the processes, without waiting for them. */
export async function startServingProcesses(parts: ServingProcessesParts): Promise<ServingProcesses> {
  await using opening = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "quorate-"));
  opening.defer(() => rm(directory, { recursive: true, force: true }));
  opening.use(new MirrorFeed(parts.source, join(directory, mirrorSocket)));
  opening.use(serveForwarded(join(directory, requestSocket), parts.handle));
  const kept = opening.move();
  const slots = Array.from({ length: parts.count }, (_, at) => new Slot(parts, directory, at + 1));
  const running = () => slots.flatMap(({ process }) => process ?? []);
  let collecting: Promise<string[]> | undefined;
  const collect = async (reset: boolean) => {
    const texts = await Promise.all(running().map((process) => process.metrics(reset)));
    return texts.filter((text) => text !== undefined);
  };
  const stop = async (graceMs: number) => {
    await Promise.all(slots.map((slot) => slot.stop(graceMs)));
  };
  return {
    ready: () => running().filter(({ isReady }) => isReady).length,
    leave: () => running().forEach((process) => process.send({ kind: "leave" })),
    doubtIssuerKeys: () => running().forEach((process) => process.send({ kind: "doubtIssuerKeys" })),
    async rereadCertificates() {
      await Promise.all(running().map((process) => process.ask((id) => ({ kind: "rereadCertificates", id }))));
    },
    metrics(reset) {
      if (reset) return collect(true);
      collecting ??= collect(false).finally(() => {
        collecting = undefined;
      });
      return collecting;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop(0);
      await kept.disposeAsync();
    },
  };
}

/** The place of one process, for which there is a successor when it ends. */
class Slot {
  process: ServingProcess | undefined;
  readonly #parts: ServingProcessesParts;
  readonly #start: ServingStart;
  #delayMs = replaceMsMin;
  #replacing: Disposable | undefined;
  #isStopping = false;

  constructor(parts: ServingProcessesParts, directory: string, number: number) {
    this.#parts = parts;
    this.#start = { options: parts.options, port: parts.port, number, directory };
    this.#run();
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#replacing?.[Symbol.dispose]();
    const { process } = this;
    if (process === undefined) return;
    process.send({ kind: "stop", graceMs });
    await atMost(this.#parts.clock, graceMs + endMsMax, process.ended());
    process.kill();
    await process.ended();
  }

  #run(): void {
    const { clock, log, command, onIssuerKeyWithdrawn } = this.#parts;
    const { number } = this.#start;
    const startedMs = clock.steadyMs();
    this.process = new ServingProcess({
      command,
      start: this.#start,
      clock,
      onReady: () => log.info("a serving process is ready", { number }),
      onIssuerKeyWithdrawn,
      onEnded: () => {
        this.process = undefined;
        if (this.#isStopping) return;
        log.error("a serving process has ended and is replaced", { number });
        if (clock.steadyMs() - startedMs >= soundMs) this.#delayMs = replaceMsMin;
        this.#replacing = clock.after(this.#delayMs, () => this.#run());
        this.#delayMs = Math.min(replaceMsMax, this.#delayMs * 2);
      },
    });
  }
}
