import { stringifyJson } from "../../api/codec/json.ts";
import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { formatTime } from "../../api/time.ts";
import type { Clock } from "../../process/clock.ts";
import type { RandomInt } from "../../registry/random-name.ts";
import { recordIndex } from "../../storage/record-index.ts";
import { splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import type { ProposedBody, Store } from "../../storage/store.ts";
import type { ServiceRef } from "./cluster-ip-allocator.ts";
import type { HoldsPort, NodePorts } from "./node-ports.ts";

/** One record for each port that is taken, named by its number. No resource of the API lies here. */
export const nodePortPrefix: Key = "/registry/ranges/servicenodeports/";

/** Ports from `first` to `last`, both included. Those below `upper` are left to clients that ask for a certain one. */
export interface PortRange {
  readonly first: number;
  readonly upper: number;
  readonly last: number;
}

/** `30000-32767`; undefined for anything else. */
export function portRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  if (!(first >= 1 && last >= first && last <= 65_535)) return undefined;
  return { first, upper: first + lowerBandSize(last - first + 1), last };
}

/** `min(max(16, size / 32), 128)`; up to 16 ports are not split. */
function lowerBandSize(size: number): number {
  return size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
}

export interface NodePortAllocatorParts {
  readonly store: Store;
  readonly range: PortRange;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
}

/** The record of a port that is taken. */
interface NodePortRecord {
  readonly port: number;
  readonly service: ServiceRef;
  readonly entry: Entry;
}

/** A port belongs to whoever creates its record: the store refuses the second, so no two Services share one. */
export class NodePortAllocator implements NodePorts {
  readonly #parts: NodePortAllocatorParts;

  constructor(parts: NodePortAllocatorParts) {
    this.#parts = parts;
  }

  async takeAny(service: ServiceRef, except: ReadonlySet<number>): Promise<number | undefined> {
    for (const port of portsToTry(this.#parts.range, this.#parts.randomInt)) {
      if (except.has(port) || this.#isTaken(port)) continue;
      if (await this.#claim(port, service)) return port;
    }
    return undefined;
  }

  async take(port: number, service: ServiceRef, dryRun: boolean): Promise<string | undefined> {
    const { first, last } = this.#parts.range;
    // Upstream does not look at the range in a dry run.
    if (!dryRun && (port < first || port > last)) {
      return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
    }
    const isFree = !this.#isTaken(port) && (dryRun || (await this.#claim(port, service)));
    return isFree ? undefined : "provided port is already allocated";
  }

  async release(port: number, { namespace, name }: ServiceRef): Promise<void> {
    const entry = this.#parts.store.get(keyOf(port));
    if (entry === undefined) return;
    const { service } = recordOf(entry);
    if (service.namespace === namespace && service.name === name) await this.#remove(entry);
  }

  async releaseUnheld(isHeld: HoldsPort, settled: Revision): Promise<number> {
    let released = 0;
    for (const { port, service, entry } of this.#parts.store.scan(nodePortPrefix).map(recordOf)) {
      if (isHeld(port, service) || entry.revision > settled) continue;
      await this.#remove(entry);
      released++;
    }
    return released;
  }

  ownerOf(port: number): ServiceRef | undefined {
    const entry = this.#parts.store.get(keyOf(port));
    return entry === undefined ? undefined : recordOf(entry).service;
  }

  /** Removes a record in the state that was read. A record that has changed since stays. */
  async #remove({ key, revision, body }: Entry): Promise<void> {
    const { store } = this.#parts;
    await store.commit({
      key,
      expect: { kind: "revision", revision },
      operation: { kind: "delete", last: splitAtResourceVersion(body) },
    });
  }

  #isTaken(port: number): boolean {
    return this.#parts.store.get(keyOf(port)) !== undefined;
  }

  /** False when another was faster. */
  async #claim(port: number, service: ServiceRef): Promise<boolean> {
    const { store, clock } = this.#parts;
    const applied = await store.commit({
      key: keyOf(port),
      expect: { kind: "absent" },
      operation: {
        kind: "put",
        index: recordIndex,
        body: recordBody(port, service, clock.nowMs()),
      },
    });
    return applied.kind === "applied";
  }
}

/** Every port once: the upper band from a random place on, then the lower band. */
export function* portsToTry({ first, upper, last }: PortRange, randomInt: RandomInt): Generator<number> {
  const bands = [
    { from: upper, size: last - upper + 1 },
    { from: first, size: upper - first },
  ];
  for (const { from, size } of bands) {
    if (size <= 0) continue;
    const start = randomInt(size);
    for (let step = 0; step < size; step++) yield from + ((start + step) % size);
  }
}

function keyOf(port: number): Key {
  return `${nodePortPrefix}${port}`;
}

function recordBody(port: number, { namespace, name }: ServiceRef, nowMs: number): ProposedBody {
  const service = stringifyJson({ namespace, name });
  return {
    prefix: Buffer.from(`{"metadata":{"name":"${port}","resourceVersion":"`),
    suffix: Buffer.from(`","creationTimestamp":"${formatTime(nowMs)}"},"service":${service}}`),
  };
}

function recordOf(entry: Entry): NodePortRecord {
  const { service } = decodeBody(entry) as { service: { namespace: string; name: string } };
  return {
    port: Number(entry.key.slice(nodePortPrefix.length)),
    service,
    entry,
  };
}
