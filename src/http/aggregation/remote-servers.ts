import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import type { ServedApi, ServedApis } from "../../kinds/apiregistration/api-services.ts";

export type RemoteServedApi = ServedApi & { readonly remote: RemoteApi };

/** A value that is kept for each extension server. */
export interface PerServer extends Disposable {
  /** Takes over the current APIServices of the server; there is at least one. */
  set(apis: readonly RemoteServedApi[]): void;
}

/**
 * Keeps a value for each extension server. APIServices belong to the same server if they name the same port of the same
 * service and verify its certificate in the same way.
 */
export class RemoteServers<T extends PerServer> implements Disposable {
  readonly #apis: ServedApis;
  readonly #open: (remote: RemoteApi) => T;
  readonly #servers = new Map<string, T>();

  constructor(apis: ServedApis, open: (remote: RemoteApi) => T) {
    this.#apis = apis;
    this.#open = open;
  }

  all(): Iterable<T> {
    return this.#servers.values();
  }

  /** Opens and closes servers as the APIServices require. */
  reconcile(): void {
    const remotes = this.#apis
      .groups()
      .flatMap(({ versions }) => versions)
      .filter(isRemote);
    const byServer = Map.groupBy(remotes, ({ remote }) => keyOf(remote));
    for (const [key, server] of this.#servers) {
      if (byServer.has(key)) continue;
      server[Symbol.dispose]();
      this.#servers.delete(key);
    }
    for (const [key, apis] of byServer) {
      const [{ remote }] = apis as [RemoteServedApi, ...RemoteServedApi[]];
      const server = this.#servers.get(key) ?? this.#open(remote);
      this.#servers.set(key, server);
      server.set(apis);
    }
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers.values()) server[Symbol.dispose]();
    this.#servers.clear();
  }
}

function isRemote(api: ServedApi): api is RemoteServedApi {
  return api.remote !== undefined;
}

function keyOf({ namespace, name, port, authorities, insecure }: RemoteApi): string {
  return JSON.stringify([namespace, name, port, authorities, insecure]);
}
