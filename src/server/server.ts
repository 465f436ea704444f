import { noGossip } from "../cluster/gossip/gossip.ts";
import { RemovedMemberError } from "../cluster/removed-member.ts";
import { type Log, openLog } from "../process/logs.ts";
import type { Store } from "../storage/store.ts";
import { type RunningServer, resolveOptions, type ServerConfig, type ServerOptions } from "./config/server-options.ts";
import { requireFreePort } from "./free-port.ts";
import { openApi } from "./open-api.ts";
import { openHttp } from "./open-http.ts";
import { openIdentity } from "./open-identity.ts";
import { openMembers } from "./open-members.ts";
import { openNodes } from "./open-nodes.ts";
import { openServing } from "./open-serving.ts";
import { encryptStore, type OpenStore, openStore, sharedStore } from "./open-store.ts";
import { noServingProcesses, type ServingProcesses } from "./serving/serving-processes.ts";
import type { StartContext } from "./start-context.ts";
import { startControllers } from "./start-controllers.ts";

const closeGraceMsDefault = 10_000;

/**
 * Starts a server. Resolves when `/readyz` answers 200. A server in a process keeps everything in memory unless a data
 * directory is given; several can run at once.
 * @throws StartupError, one line with the problem and the remedy
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const config = resolveOptions(inMemoryByDefault(options));
  const log = openLog({ verbosity: config.verbosity });
  await requireFreePort(config);
  return startOn(await openStore(config, log), config, log, options);
}

/** Starts a server on a shared store. Closing the server leaves the store open. */
export async function startServerOn(store: Store, options: ServerOptions = {}): Promise<RunningServer> {
  const config = resolveOptions(inMemoryByDefault(options));
  return startOn(sharedStore(store, config.clock), config, openLog({ verbosity: config.verbosity }), options);
}

/** Opens the parts of a server in order. They close in the opposite order, even when one of them fails to open. */
async function startOn(
  opened: OpenStore,
  config: ServerConfig,
  log: Log,
  options: ServerOptions,
): Promise<RunningServer> {
  await using parts = new AsyncDisposableStack();
  const onError = (error: unknown) => log.error("a part of the server failed", { error });
  const storage = parts.use(await encryptStore(opened, config, log));
  const context: StartContext = { config, log, storage, onError };
  let gossip = noGossip;
  let serving: ServingProcesses = noServingProcesses;

  const api = parts.use(await openApi(context));
  const onKeyWithdrawn = () => {
    gossip.invalidate("issuerKeys");
    serving.doubtIssuerKeys();
  };
  const credentials = parts.use(await openIdentity({ ...context, api, onKeyWithdrawn }));
  const http = parts.use(await openHttp({ ...context, api, credentials, heard: () => gossip.peers() }));
  const controllers = parts.use(startControllers({ ...context, api, credentials, http }));
  const members = parts.use(await openMembers({ ...context, api, credentials, http }));
  gossip = members.gossip;
  serving = parts.use(await openServing({ ...context, api, credentials, http, gossip, options, onKeyWithdrawn }));
  const failed = (storage.member ?? storage.etcd)?.failed ?? new Promise<never>(() => undefined);
  void failed.then((error) => error instanceof RemovedMemberError && http.expel());

  await api.discovered();
  const nodes = parts.use(await openNodes({ ...context, api, credentials, http }));
  logStart(context, http.url);
  const running = parts.move();
  let closing: Promise<void> | undefined;
  const close = async (graceMs: number) => {
    await using _ = running;
    await nodes[Symbol.asyncDispose]();
    await controllers.leave();
    await Promise.all([serving.stop(graceMs), http.drain(graceMs)]);
  };
  return {
    url: http.url,
    port: http.port,
    kubeconfig: http.kubeconfig,
    ...(config.kubeconfig === undefined ? {} : { kubeconfigPath: config.kubeconfig }),
    token: credentials.identity.token,
    ca: credentials.identity.ca,
    ...(config.simulatedNodes === undefined ? {} : { simulatedNodes: config.simulatedNodes }),
    client: http.clients.open,
    failed,
    beginShutdown() {
      http.leave();
      serving.leave();
      gossip.announce();
      void controllers.leave();
    },
    close: ({ graceMs = closeGraceMsDefault } = {}) => (closing ??= close(graceMs)),
  };
}

/** Without a data directory, a server in code runs in memory. The command line always decides. */
function inMemoryByDefault(options: ServerOptions): ServerOptions {
  const inMemory = options.inMemory ?? options.dataDir === undefined;
  return { ...options, inMemory, securePort: options.securePort ?? 0 };
}

function logStart({ config, log, storage }: StartContext, url: string): void {
  const { store, etcd } = storage;
  for (const { key, message } of [...store.corrupt, ...(etcd?.eventStore?.corrupt ?? [])])
    log.error("an object cannot be read", { key, reason: message });
  for (const warning of config.featureGates.warnings) log.warn(warning);
  log.info("serving", { url, revision: store.revision, objects: store.size });
}
