import { apiVersionOf } from "../../api/gvk.ts";
import type { DiscoveredVersion } from "../../client/aggregation/discovered-version.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import type { ServedApi } from "../../kinds/apiregistration/api-services.ts";
import { type DiscoveryDownload, type DiscoveryDownloadParts, downloadDiscovery } from "./download-discovery.ts";
import type { PerServer } from "./remote-servers.ts";
import { RepeatedDownload, type RepeatedDownloadParts } from "./repeated-download.ts";

const intervalMs = 60_000;
const retryMsMin = 500;

export interface DiscoveredServerParts extends DiscoveryDownloadParts, Pick<RepeatedDownloadParts, "random" | "slots"> {
  readonly remote: RemoteApi;
  /** Called when the versions may have changed. */
  readonly changed: () => void;
}

/** The resources of one extension server, in the group versions whose APIServices name it. */
export class DiscoveredServer implements PerServer {
  readonly #parts: DiscoveredServerParts;
  readonly #repeated: RepeatedDownload;
  #apis: readonly ServedApi[] = [];
  #known: DiscoveryDownload | undefined;
  /** By apiVersion. */
  #freshness: ReadonlyMap<string, DiscoveredVersion["freshness"]> = new Map();
  #versions: readonly DiscoveredVersion[] = [];
  /** The text of `#versions`, to detect changes. */
  #text = "";

  constructor(parts: DiscoveredServerParts) {
    this.#parts = parts;
    this.#repeated = new RepeatedDownload({
      ...parts,
      intervalMs,
      retryMsMin,
      retryMsMax: intervalMs,
      download: (signal) => this.#download(signal),
      ended: () => parts.changed(),
    });
  }

  /** Returns the versions; the same list as before if nothing has changed. */
  get versions(): readonly DiscoveredVersion[] {
    return this.#versions;
  }

  /** Takes over the current APIServices. Downloads at once for those that are new or available again. */
  set(apis: readonly ServedApi[]): void {
    const before = new Set(this.#available.map(apiVersionOf));
    this.#apis = apis;
    this.#update((api, last) => {
      // Unavailable servers get no requests, so that nothing waits for them.
      if (!api.isAvailable) return "Stale";
      return last ?? "Pending";
    });
    const available = this.#available;
    if (available.length === 0) this.#repeated.pause();
    else if (available.some((api) => !before.has(apiVersionOf(api)))) this.#repeated.now();
  }

  [Symbol.dispose](): void {
    this.#repeated[Symbol.dispose]();
  }

  get #available(): readonly ServedApi[] {
    return this.#apis.filter(({ isAvailable }) => isAvailable);
  }

  async #download(signal: AbortSignal): Promise<void> {
    const asked = new Set(this.#available.map(apiVersionOf));
    const end = (didFail: (apiVersion: string) => boolean) =>
      this.#update((api, last) => {
        const apiVersion = apiVersionOf(api);
        if (!api.isAvailable) return "Stale";
        if (!asked.has(apiVersion)) return last ?? "Pending";
        return didFail(apiVersion) ? "Stale" : "Current";
      });
    try {
      const found = await downloadDiscovery(this.#parts, this.#parts.remote, this.#available, this.#known, signal);
      this.#known = withEarlier(found, this.#known);
    } catch (error) {
      end(() => true);
      throw error;
    }
    const { failed } = this.#known;
    end((apiVersion) => failed.has(apiVersion));
    if (failed.size > 0) throw new Error("some group versions could not be read");
  }

  #update(
    freshnessOf: (api: ServedApi, last: DiscoveredVersion["freshness"] | undefined) => DiscoveredVersion["freshness"],
  ): void {
    const versions = this.#apis.map((api): DiscoveredVersion => {
      const { group, version } = api;
      const apiVersion = apiVersionOf(api);
      const freshness = freshnessOf(api, this.#freshness.get(apiVersion));
      return { group, version, freshness, resources: this.#known?.resources.get(apiVersion) ?? [] };
    });
    this.#freshness = new Map(versions.map((version) => [apiVersionOf(version), version.freshness]));
    const text = JSON.stringify(versions);
    if (text !== this.#text) this.#versions = versions;
    this.#text = text;
  }
}

/** Keeps the resources of earlier downloads for the group versions that failed. */
function withEarlier(found: DiscoveryDownload, earlier: DiscoveryDownload | undefined): DiscoveryDownload {
  if (found.failed.size === 0 || earlier === undefined) return found;
  const resources = new Map(found.resources);
  for (const failed of found.failed) resources.set(failed, earlier.resources.get(failed) ?? []);
  return { ...found, resources };
}
