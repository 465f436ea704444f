import { apiVersionOf } from "../../api/gvk.ts";
import type { DiscoveredVersion, DiscoveredVersions } from "../../client/aggregation/discovered-version.ts";
import type { ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { Slots } from "../../process/slots.ts";
import { DiscoveredServer } from "./discovered-server.ts";
import type { DiscoveryDownloadParts } from "./download-discovery.ts";
import { RemoteServers } from "./remote-servers.ts";

/** Number of concurrent downloads. A hanging server occupies one for seconds. */
const downloadsAtATime = 16;

export interface RemoteDiscoveryParts extends DiscoveryDownloadParts {
  readonly apis: ServedApis;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * The resources of all extension servers. They are downloaded in advance and again every minute, never while a client
 * waits. So a slow or dead server makes discovery neither slow nor wrong for the others.
 */
export class RemoteDiscovery implements DiscoveredVersions {
  readonly #servers: RemoteServers<DiscoveredServer>;
  readonly #followers = new Set<() => void>();
  #versions: readonly DiscoveredVersion[] = [];
  /** The versions of each server, from which `#versions` was made. */
  #collected: readonly (readonly DiscoveredVersion[])[] = [];
  #generation = 0;
  #isSynced = false;
  readonly #synced = Promise.withResolvers<void>();

  constructor(parts: RemoteDiscoveryParts) {
    const slots = new Slots(downloadsAtATime);
    const changed = () => this.#collect();
    this.#servers = new RemoteServers(
      parts.apis,
      (remote) => new DiscoveredServer({ ...parts, slots, remote, changed }),
    );
  }

  /** Follows the APIServices until it is disposed of. */
  start(): Disposable {
    return this.#servers.start(() => this.#collect());
  }

  /** Reports whether every server that was available at the start has been asked. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when every server that was available at the start has been asked. */
  get synced(): Promise<void> {
    return this.#synced.promise;
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

  #collect(): void {
    const collected = [...this.#servers.all()].map(({ versions }) => versions);
    const versions = collected.flat();
    this.#isSynced ||= versions.every(({ freshness }) => freshness !== "Pending");
    if (this.#isSynced) this.#synced.resolve();
    const isSame = collected.length === this.#collected.length;
    if (isSame && collected.every((versionsOfServer, at) => versionsOfServer === this.#collected[at])) return;
    this.#collected = collected;
    this.#versions = versions.toSorted((a, b) => (apiVersionOf(a) < apiVersionOf(b) ? -1 : 1));
    this.#generation++;
    for (const run of this.#followers) run();
  }
}
