import type { Gossip } from "../cluster/gossip/gossip.ts";
import { StartupError } from "../process/startup-error.ts";
import type { ServerOptions } from "./config/server-options.ts";
import { servingMetrics } from "./metrics/serving-metrics.ts";
import type { ServerApi } from "./open-api.ts";
import type { ServerHttp } from "./open-http.ts";
import type { ServerCredentials } from "./open-identity.ts";
import { noServingProcesses, type ServingProcesses, startServingProcesses } from "./serving/serving-processes.ts";
import type { StartContext } from "./start-context.ts";

export interface ServingParts extends StartContext {
  readonly api: ServerApi;
  readonly credentials: ServerCredentials;
  readonly http: ServerHttp;
  readonly gossip: Gossip;
  /** The options that the serving processes have, too. */
  readonly options: ServerOptions;
  readonly onKeyWithdrawn: () => void;
}

/** Starts the serving processes that the configuration asks for, without waiting for them. */
export async function openServing(parts: ServingParts): Promise<ServingProcesses> {
  const { config, log, storage, api, credentials, http, gossip, onKeyWithdrawn } = parts;
  const { clock: _, servingCommand, ...options } = parts.options;
  const count = config.servingProcesses;
  if (count === 0) return noServingProcesses;
  if (servingCommand === undefined || storage.member === undefined) {
    throw new StartupError("--serving-processes is for the program: code that embeds a server starts one process");
  }
  await using opening = new AsyncDisposableStack();
  const processes = opening.use(
    await startServingProcesses({
      count,
      command: servingCommand,
      options,
      port: http.port,
      source: storage.member.source,
      handle: http.handle,
      clock: config.clock,
      log,
      onIssuerKeyWithdrawn: onKeyWithdrawn,
    }),
  );
  opening.use(gossip.onInvalidate(() => processes.doubtIssuerKeys()));
  opening.use(credentials.identity.follow(() => processes.rereadCertificates()));
  servingMetrics(api.metrics.registry, () => processes.ready());
  api.metrics.include((reset) => processes.metrics(reset));
  const kept = opening.move();
  return { ...processes, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
