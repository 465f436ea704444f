import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownCommand } from "../process/own-command.ts";
import { StartupError } from "../process/startup-error.ts";
import {
  type RunningServer,
  resolveOptions,
  type ServerConfig,
  type ServerOptions,
  type StartServer,
} from "../server/config/server-options.ts";
import { releaseStartMemory } from "./release-start-memory.ts";
import { servingProcessCommand } from "./serving-process-command.ts";
import { shellWord } from "./shell-word.ts";
import { startupFailureText } from "./startup-failure.ts";
import type { Terminal } from "./terminal.ts";

/** Grace period for running requests after a signal to stop. */
const closeGraceMs = 10_000;

/** Grace period for pending answers after the store has failed. */
const failureAnswersMs = 500;

/**
 * Runs `quorate up`: a server that runs until a signal to stop. The first SIGINT or SIGTERM lets requests end; the second
 * one exits at once.
 * @param load returns `startServer`. It loads the server late, so that a wrong flag is reported fast
 * @returns 0 after an orderly stop, 1 when the start failed or the server broke, 3 when the cluster has removed this
 * member
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
  if (server.simulatedNodes !== undefined) terminal.print(simulatedNodesLine(server.simulatedNodes));
  scratch.use(releaseStartMemory(config.clock));
  void server.failed.then(async (error) => {
    const isKnown = error instanceof StartupError;
    terminal.complain(`quorate: ${error.message}${isKnown ? "" : "; no acknowledged write is lost"}`);
    // Leave time to tell waiting clients that the outcome is unknown, and new ones that the server is gone.
    await Bun.sleep(failureAnswersMs);
    terminal.exit(isKnown ? error.exitCode : 1);
  });
  const exitCode = await stop.promise;
  await leave(server, config, exitCode);
  return exitCode;

  /** Exits without cleaning up, because the store may be in any state. A restart recovers. */
  function fail(error: unknown): void {
    terminal.complain(`quorate: stopped by an internal error: ${startupFailureText(error, "")}`);
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

/** Reports not ready for the time that load balancers need, refuses new requests, and then closes the store. */
async function leave(server: RunningServer, config: ServerConfig, exitCode: number): Promise<void> {
  if (exitCode === 0 && config.shutdownDelayDurationMs > 0) {
    server.beginShutdown();
    await Bun.sleep(config.shutdownDelayDurationMs);
  }
  await server.close({ graceMs: closeGraceMs });
}

/** Fixes the data directory, the port and the program. Embedding code may leave them open; the command line may not. */
function explicit(options: ServerOptions, config: ServerConfig, kubeconfig: string): ServerOptions {
  const { dataDir, inMemory, securePort } = config;
  const servingCommand = [...ownCommand(), servingProcessCommand];
  return { ...options, dataDir, inMemory, securePort, kubeconfig, servingCommand };
}

/** Returns the path for the kubeconfig. It is temporary for a server in memory, which has no data directory. */
async function kubeconfigFor(config: ServerConfig, scratch: AsyncDisposableStack): Promise<string> {
  if (config.kubeconfig !== undefined) return config.kubeconfig;
  const directory = await mkdtemp(join(tmpdir(), "quorate-"));
  scratch.defer(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "kubeconfig");
}

/** Returns the commands that the user types next. */
export function instructions(kubeconfigPath = ""): string[] {
  return [`export KUBECONFIG=${shellWord(kubeconfigPath)}`, "kubectl get namespaces"];
}

/** Returns the line that says plainly that nodes are simulated, and with which seed. */
function simulatedNodesLine({ names, seed }: NonNullable<RunningServer["simulatedNodes"]>): string {
  const [first = "", ...others] = names;
  const last = others.at(-1);
  const nodes =
    last === undefined ? `1 simulated node, ${first}` : `${names.length} simulated nodes, ${first} to ${last}`;
  return `# ${nodes}: pods run there without processes (--simulation-seed ${seed})`;
}

async function loadServer(): Promise<StartServer> {
  const { startServer } = await import("../server/server.ts");
  return startServer;
}
