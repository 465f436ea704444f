import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type RunningServer,
  resolveOptions,
  type ServerConfig,
  type ServerOptions,
  type StartServer,
} from "../server/config/server-options.ts";
import { startupFailureText } from "./startup-failure.ts";
import type { Terminal } from "./terminal.ts";

/** Requests that run when the server is told to stop get this long to end. */
const closeGraceMs = 10_000;

/** After the store has failed, answers that are on their way get this long. */
const failureAnswersMs = 500;

/**
 * `quorate up`: runs a server until it is told to stop.
 * The first SIGINT or SIGTERM lets requests end; the second one leaves at once.
 * @param load gives `startServer`; loaded late, so that a wrong flag is answered without building a server
 * @returns 0 after an orderly stop, 1 when the start failed or the server broke
 */
export async function up(
  options: ServerOptions,
  terminal: Terminal,
  load: () => Promise<StartServer> = loadServer,
): Promise<number> {
  await using scratch = new AsyncDisposableStack();
  const stop = Promise.withResolvers<number>();
  let server: RunningServer | undefined;
  scratch.use(terminal.onUncaught((error) => fail(error)));
  scratch.use(terminal.onStopSignal(onSignal()));

  const config = resolveOptions(options);
  const startServer = await load();
  server = await startServer(explicit(options, config, await kubeconfigFor(config, scratch)));
  for (const line of instructions(server.kubeconfigPath)) terminal.print(line);
  void server.failed.then(async ({ message }) => {
    terminal.complain(`quorate: ${message}; nothing that was acknowledged is lost`);
    // Whoever waits is being told that the outcome is not known.
    await Bun.sleep(failureAnswersMs);
    terminal.exit(1);
  });
  const exitCode = await stop.promise;
  await leave(server, config, exitCode);
  return exitCode;

  /** The store may be in any state now, so nothing of ours is trusted to tidy up: a restart recovers. */
  function fail(error: unknown): void {
    terminal.complain(`quorate: stopped by an error of its own: ${startupFailureText(error, "")}`);
    terminal.exit(1);
  }

  function onSignal(): () => void {
    let signals = 0;
    return () => {
      signals++;
      if (signals > 1 || server === undefined) return terminal.exit(1);
      stop.resolve(0);
    };
  }
}

/** Not ready but serving for the time that load balancers need, then no new requests, then the store is closed. */
async function leave(server: RunningServer, config: ServerConfig, exitCode: number): Promise<void> {
  if (exitCode === 0 && config.shutdownDelayDurationMs > 0) {
    server.beginShutdown();
    await Bun.sleep(config.shutdownDelayDurationMs);
  }
  await server.close({ graceMs: closeGraceMs });
}

/** The command line always has a place for its state and a fixed port, where code that embeds a server has neither. */
function explicit(options: ServerOptions, config: ServerConfig, kubeconfig: string): ServerOptions {
  const { dataDir, inMemory, securePort } = config;
  return { ...options, dataDir, inMemory, securePort, kubeconfig };
}

/** In memory there is no data directory, but kubectl still needs a file; it goes away with the server. */
async function kubeconfigFor(config: ServerConfig, scratch: AsyncDisposableStack): Promise<string> {
  if (config.kubeconfig !== undefined) return config.kubeconfig;
  const directory = await mkdtemp(join(tmpdir(), "quorate-"));
  scratch.defer(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "kubeconfig");
}

/** Exactly what one has to type next. */
export function instructions(kubeconfigPath = ""): string[] {
  return [`export KUBECONFIG=${shellWord(kubeconfigPath)}`, "kubectl get namespaces"];
}

function shellWord(text: string): string {
  return /^[\w/.:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

async function loadServer(): Promise<StartServer> {
  const { startServer } = await import("../server/server.ts");
  return startServer;
}
