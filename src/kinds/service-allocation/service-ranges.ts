import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ServiceCIDR } from "../../api/types/networking-v1.ts";
import type { Registry } from "../../registry/registry.ts";
import { type IpRange, ipRange } from "./ip-range.ts";

/** Number of ServiceCIDRs that are read. A cluster has a handful. */
const serviceCidrsMax = 1_000;

/**
 * The ranges of cluster IPs: those the server was started with, which determine the families, and those of further
 * ServiceCIDR objects. No address is taken from a range that is being deleted.
 */
export class ServiceRanges {
  readonly #configured: readonly IpRange[];
  readonly #serviceCidrs: () => Registry;
  /** Entries that `#known` was made of. The cache returns the same list until something changes. */
  #entries: readonly Entry[] | undefined;
  #known: readonly IpRange[] = [];

  constructor(configured: readonly IpRange[], serviceCidrs: () => Registry) {
    this.#configured = configured;
    this.#serviceCidrs = serviceCidrs;
  }

  ranges(): readonly IpRange[] {
    const { cacher, info } = this.#serviceCidrs();
    const page = cacher.list({ prefix: info.keyPrefix });
    const entries = page instanceof Promise ? [] : page.entries;
    if (entries !== this.#entries) {
      this.#known = this.#merged(entries.slice(0, serviceCidrsMax).map((entry) => decodeEntry(entry, info)));
      this.#entries = entries;
    }
    return this.#known;
  }

  #merged(objects: readonly KubeObject[]): readonly IpRange[] {
    const families = new Set(this.#configured.map(({ family }) => family));
    const configured = new Set(this.#configured.map(({ text }) => text));
    const added = objects
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(cidrsOf)
      .filter((text) => !configured.has(text))
      .map(ipRange)
      .filter((range) => range !== undefined && families.has(range.family)) as IpRange[];
    return [...this.#configured, ...added];
  }
}

function cidrsOf(object: KubeObject): readonly string[] {
  return (object as ServiceCIDR).spec?.cidrs ?? [];
}
