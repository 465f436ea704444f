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
import { type PortRange, portsToTry, rangeProblem } from "./node-port-range.ts";
import type { HoldsPort, NodePorts } from "./node-ports.ts";

/** One record for each port that is taken, named by its number. No resource of the API lies here. */
export const nodePortPrefix: Key = "/registry/ranges/servicenodeports/";

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
    const problem = dryRun ? undefined : rangeProblem(port, this.#parts.range);
    if (problem !== undefined) return problem;
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
