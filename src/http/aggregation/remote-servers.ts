import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { type RemoteServedApi, remoteApis, type ServedApis } from "../../kinds/apiregistration/api-services.ts";

/** A value that is kept for each extension server. */
export interface PerServer extends Disposable {
  /** Takes over the current APIServices of the server; there is at least one. */
  set(apis: readonly RemoteServedApi[]): void;
}

/**
 * Keeps a value for each extension server. APIServices belong to the same server if they name the same port of the same
 * service and verify its certificate in the same way.
 */
export class RemoteServers<T extends PerServer> {
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

  /** Opens and closes servers as the APIServices require, until it is disposed of. Calls `changed` afterwards, each time. */
  start(changed: () => void): Disposable {
    const running = new DisposableStack();
    running.defer(() => {
      for (const server of this.#servers.values()) server[Symbol.dispose]();
      this.#servers.clear();
    });
    const follow = () => {
      this.#reconcile();
      changed();
    };
    running.use(this.#apis.follow(follow));
    follow();
    return running;
  }

  #reconcile(): void {
    const byServer = Map.groupBy(remoteApis(this.#apis), ({ remote }) => keyOf(remote));
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
}

function keyOf({ namespace, name, port, authorities, insecure }: RemoteApi): string {
  return JSON.stringify([namespace, name, port, authorities, insecure]);
}
