import { join } from "node:path";
import { toText } from "../../api/codec/byte-text.ts";
import { noGossip } from "../../cluster/gossip/gossip.ts";
import { openLog } from "../../process/logs.ts";
import { openMirror } from "../../storage/replicated/mirror/open-mirror.ts";
import { resolveOptions } from "../config/server-options.ts";
import { openApi } from "../open-api.ts";
import { openHttp } from "../open-http.ts";
import { openIdentity } from "../open-identity.ts";
import { encryptStore, plainStore } from "../open-store.ts";
import type { StartContext } from "../start-context.ts";
import { startServingControllers } from "../start-controllers.ts";
import { mirrorSocket, requestSocket, type ServingStart } from "./messages.ts";

/** A server that shares the port and the store of the process that started it. */
export interface ServingServer {
  /** Resolves with the reason when the store can no longer be followed. */
  readonly ended: Promise<Error>;
  leave(): void;
  doubtIssuerKeys(): void;
  rereadCertificates(): Promise<void>;
  /** Returns the text of this process's metrics. */
  metrics(reset: boolean): Promise<string>;
  /** Lets requests end for at most `graceMs`, and closes everything. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts serving on a mirror of the store. Resolves when clients can connect.
 * @throws StartupError, or an Error if the process that keeps the store is gone
 */
export async function startServingProcess(
  { options, port, number, directory }: ServingStart,
  onIssuerKeyWithdrawn: () => void,
): Promise<ServingServer> {
  await using parts = new AsyncDisposableStack();
  const config = { ...resolveOptions(options), securePort: port, kubeconfig: undefined };
  const log = openLog({ verbosity: config.verbosity }).for(`serving process ${number}`);
  const onError = (error: unknown) => log.error("a part of the server failed", { error });
  const { store, ended } = await openMirror(join(directory, mirrorSocket), { clock: config.clock });
  const mirror = { ...plainStore(store, config.clock), [Symbol.asyncDispose]: () => store.close() };
  const storage = parts.use(await encryptStore(mirror, config, log));
  const serving = { number, requests: join(directory, requestSocket) };
  const context: StartContext = { config, log, storage, serving, onError };
  const api = parts.use(await openApi(context));
  const credentials = parts.use(await openIdentity({ ...context, api, onKeyWithdrawn: onIssuerKeyWithdrawn }));
  const http = parts.use(await openHttp({ ...context, api, credentials, heard: () => noGossip.peers() }));
  parts.use(startServingControllers({ ...context, api, credentials, http }));
  await api.discovered();
  const running = parts.move();
  return {
    ended,
    leave: () => http.leave(),
    doubtIssuerKeys: () => credentials.authentication.doubtIssuerKeys(),
    rereadCertificates: () => credentials.identity.reread(),
    async metrics(reset) {
      if (reset) api.metrics.reset();
      return (await api.metrics.expose()).map(toText).join("");
    },
    async stop(graceMs) {
      await using _ = running;
      await http.drain(graceMs);
    },
  };
}
