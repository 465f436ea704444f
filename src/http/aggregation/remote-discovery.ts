import { apiVersionOf } from "../../api/gvk.ts";
import type { DiscoveredVersion, DiscoveredVersions } from "../../client/aggregation/discovered-version.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import type { ServedApi, ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { DiscoveredServer } from "./discovered-server.ts";
import { type DiscoveryDownloadParts, downloadDiscovery } from "./download-discovery.ts";
import { DownloadSlots } from "./download-slots.ts";

/** Downloads at a time. A server that hangs holds one for seconds. */
const downloadsAtATime = 16;

export interface RemoteDiscoveryParts extends DiscoveryDownloadParts {
  readonly apis: ServedApis;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * The resources of all extension servers. They are downloaded beforehand and again every minute, never while a client
 * waits, so a server that is slow or dead makes discovery neither slow nor wrong for the others.
 */
export class RemoteDiscovery implements DiscoveredVersions {
  readonly #parts: RemoteDiscoveryParts;
  readonly #slots = new DownloadSlots(downloadsAtATime);
  /** By the address of the server and how its certificate is verified. */
  readonly #servers = new Map<string, DiscoveredServer>();
  readonly #followers = new Set<() => void>();
  #versions: readonly DiscoveredVersion[] = [];
  /** Versions of each server, from which `#versions` was made. */
  #collected: readonly (readonly DiscoveredVersion[])[] = [];
  #generation = 0;
  #isSynced = false;

  constructor(parts: RemoteDiscoveryParts) {
    this.#parts = parts;
  }

  /** Follows the APIServices until it is disposed of. */
  start(): Disposable {
    const running = new DisposableStack();
    running.use(this.#parts.apis.follow(() => this.#reconcile()));
    running.defer(() => {
      for (const server of this.#servers.values()) server[Symbol.dispose]();
      this.#servers.clear();
    });
    this.#reconcile();
    return running;
  }

  /** Reports whether every server that was available at the start has been asked. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  versions(): readonly DiscoveredVersion[] {
    return this.#versions;
  }

  /** Returns a number that changes with the versions. */
  generation(): number {
    return this.#generation;
  }

  follow(run: () => void): Disposable {
    this.#followers.add(run);
    return { [Symbol.dispose]: () => void this.#followers.delete(run) };
  }

  #reconcile(): void {
    const { apis, ...parts } = this.#parts;
    const remotes = apis
      .groups()
      .flatMap(({ versions }) => versions)
      .filter(isRemote);
    const byServer = Map.groupBy(remotes, ({ remote }) => keyOf(remote));
    for (const [key, server] of this.#servers) {
      if (byServer.has(key)) continue;
      server[Symbol.dispose]();
      this.#servers.delete(key);
    }
    for (const [key, [first, ...others]] of byServer as Map<string, [RemoteServedApi, ...RemoteServedApi[]]>) {
      const server =
        this.#servers.get(key) ??
        new DiscoveredServer({
          ...parts,
          slots: this.#slots,
          remote: first.remote,
          download: (...given) => downloadDiscovery(parts, ...given),
          changed: () => this.#collect(),
        });
      this.#servers.set(key, server);
      server.set([first, ...others]);
    }
    this.#collect();
  }

  #collect(): void {
    const collected = [...this.#servers.values()].map(({ versions }) => versions);
    const versions = collected.flat();
    this.#isSynced ||= versions.every(({ freshness }) => freshness !== "Pending");
    const isSame = collected.length === this.#collected.length;
    if (isSame && collected.every((versionsOfServer, at) => versionsOfServer === this.#collected[at])) return;
    this.#collected = collected;
    this.#versions = versions.toSorted((a, b) => (apiVersionOf(a) < apiVersionOf(b) ? -1 : 1));
    this.#generation++;
    for (const run of this.#followers) run();
  }
}

type RemoteServedApi = ServedApi & { readonly remote: RemoteApi };

function isRemote(api: ServedApi): api is RemoteServedApi {
  return api.remote !== undefined;
}

function keyOf({ namespace, name, port, authorities, insecure }: RemoteApi): string {
  return JSON.stringify([namespace, name, port, authorities, insecure]);
}
