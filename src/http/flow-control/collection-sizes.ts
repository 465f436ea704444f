import type { Clock } from "../../process/clock.ts";
import type { Registries } from "../../registry/registries.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import type { CollectionSize } from "./work-estimate.ts";

/** Objects from which the average size is estimated. */
const sampleSize = 32;
/** How long an average is used. */
const averageMs = 10_000;

interface Average {
  readonly bytes: number;
  readonly untilMs: number;
}

/** Knows how many objects of a resource there are, and estimates their size from a few of them. */
export class CollectionSizes {
  readonly #registries: Pick<Registries, "find">;
  readonly #clock: Clock;
  /** By key prefix, of which there is one per stored kind. */
  readonly #averages = new Map<string, Average>();

  constructor(registries: Pick<Registries, "find">, clock: Clock) {
    this.#registries = registries;
    this.#clock = clock;
  }

  sizeOf({ group, resource }: ResourceRequest): CollectionSize | undefined {
    const registry = this.#registries.find({ group, resource });
    if (registry === undefined) return undefined;
    const { cacher, info } = registry;
    return { objects: cacher.size, averageBytes: this.#averageOf(info.keyPrefix, cacher) };
  }

  #averageOf(prefix: string, cacher: SampledCache): number {
    const nowMs = this.#clock.steadyMs();
    const known = this.#averages.get(prefix);
    if (known !== undefined && nowMs < known.untilMs) return known.bytes;
    const page = cacher.list({ prefix, limit: sampleSize });
    const entries = page instanceof Promise ? [] : page.entries;
    const total = entries.reduce((sum, { body }) => sum + body.byteLength, 0);
    const bytes = entries.length === 0 ? 0 : total / entries.length;
    this.#averages.set(prefix, { bytes, untilMs: nowMs + averageMs });
    return bytes;
  }
}

type SampledCache = Pick<NonNullable<ReturnType<Registries["find"]>>["cacher"], "list">;
