import { stringifyJson } from "../../api/codec/json.ts";
import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { RandomInt } from "../../registry/random-name.ts";
import { recordIndex } from "../../storage/record-index.ts";
import type { Store } from "../../storage/store.ts";
import type { ServiceRef } from "./cluster-ip-allocator.ts";
import { type PortRange, portsToTry, rangeProblem, rangeText } from "./node-port-range.ts";
import type { HoldsPort, NodePorts } from "./node-ports.ts";

/** The bitmap of all ports. kube-apiserver keeps it at this key and in this form. */
const bitmapKey: Key = "/registry/ranges/servicenodeports";
/** Attempts to change the bitmap while other servers change it too. */
const attemptsMax = 100;
/** Rounds of the repair in which a port has no Service before it is released. Upstream waits for as many. */
const unheldRoundsMax = 3;

export interface NodePortBitmapParts {
  readonly store: Store;
  readonly range: PortRange;
  readonly randomInt: RandomInt;
}

/**
 * Takes ports in the bitmap that kube-apiservers on the same etcd use. Each change is guarded by the revision of the
 * bitmap, so no port is given out twice, whichever server gives it out. The bitmap does not name the owners of ports.
 */
export class NodePortBitmap implements NodePorts {
  readonly #parts: NodePortBitmapParts;
  /** Number of rounds in which each taken port had no Service. */
  #unheld = new Map<number, number>();
  /** Changes by this server are made one after the other, since each one is based on the one before. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: NodePortBitmapParts) {
    this.#parts = parts;
  }

  takeAny(_service: ServiceRef, except: ReadonlySet<number>): Promise<number | undefined> {
    const { range, randomInt } = this.#parts;
    return this.#change((ports) => {
      for (const port of portsToTry(range, randomInt)) {
        if (except.has(port) || ports.has(port)) continue;
        ports.add(port);
        return port;
      }
      return undefined;
    });
  }

  async take(port: number, _service: ServiceRef, dryRun: boolean): Promise<string | undefined> {
    const problem = dryRun ? undefined : rangeProblem(port, this.#parts.range);
    if (problem !== undefined) return problem;
    const isTaken = dryRun
      ? this.#taken().has(port)
      : await this.#change((ports) => ports.has(port) || !ports.add(port));
    return isTaken ? "provided port is already allocated" : undefined;
  }

  async release(port: number): Promise<void> {
    await this.#change((ports) => ports.delete(port));
  }

  ownerOf(port: number): "unknown" | undefined {
    return this.#taken().has(port) ? "unknown" : undefined;
  }

  /** Releases a port after a few rounds, because the bitmap does not tell when the port was taken. */
  async releaseUnheld(isHeld: HoldsPort): Promise<number> {
    const before = this.#unheld;
    this.#unheld = new Map();
    const leaked: number[] = [];
    for (const port of this.#taken()) {
      if (isHeld(port, undefined)) continue;
      const rounds = (before.get(port) ?? 0) + 1;
      if (rounds >= unheldRoundsMax) leaked.push(port);
      else this.#unheld.set(port, rounds);
    }
    if (leaked.length === 0) return 0;
    return this.#change((ports) => leaked.filter((port) => ports.delete(port)).length);
  }

  #taken(): ReadonlySet<number> {
    return portsIn(this.#parts.store.get(bitmapKey), this.#parts.range);
  }

  /** @param change changes the set of taken ports. It is called again if another server was faster */
  #change<T>(change: (ports: Set<number>) => T): Promise<T> {
    const changed = this.#last.then(() => this.#changeNow(change));
    this.#last = changed.catch(() => undefined);
    return changed;
  }

  async #changeNow<T>(change: (ports: Set<number>) => T): Promise<T> {
    const { store, range } = this.#parts;
    let current = store.get(bitmapKey);
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const ports = portsIn(current, range);
      const sizeBefore = ports.size;
      const result = change(ports);
      if (ports.size === sizeBefore) return result;
      const outcome = await store.commit({
        key: bitmapKey,
        expect: current === undefined ? { kind: "absent" } : { kind: "revision", revision: current.revision },
        operation: { kind: "put", index: recordIndex, body: bitmapBody(ports, range) },
      });
      if (outcome.kind === "applied") return result;
      current = outcome.kind === "rejected" ? outcome.current : store.get(bitmapKey);
    }
    throw new Error("the node ports are changed by other servers all the time");
  }
}

const bitsPerByte = 8;

/**
 * Returns the ports whose bits are set. The bits are those of one large number, whose last byte has the first ports.
 * @throws Error for a bitmap of another range, which only a restart with the same flag can mend
 */
function portsIn(entry: Entry | undefined, expected: PortRange): Set<number> {
  const ports = new Set<number>();
  if (entry === undefined) return ports;
  const { range, data } = decodeBody(entry) as { range?: string; data?: string };
  if (range !== rangeText(expected)) {
    throw new Error(`the provided range ${rangeText(expected)} does not match the previous range ${range}`);
  }
  const bytes = Buffer.from(data ?? "", "base64");
  for (const [at, byte] of bytes.entries()) {
    const from = expected.first + (bytes.length - 1 - at) * bitsPerByte;
    for (let bit = 0; bit < bitsPerByte; bit++) if ((byte & (1 << bit)) !== 0) ports.add(from + bit);
  }
  return ports;
}

function bitmapBody(ports: ReadonlySet<number>, range: PortRange) {
  let bytes = 0;
  for (const port of ports) bytes = Math.max(bytes, Math.floor((port - range.first) / bitsPerByte) + 1);
  const data = Buffer.alloc(bytes);
  for (const port of ports) {
    const offset = port - range.first;
    const at = bytes - 1 - Math.floor(offset / bitsPerByte);
    data[at] = (data[at] as number) | (1 << (offset % bitsPerByte));
  }
  const fields = { range: rangeText(range), ...(bytes === 0 ? {} : { data: data.toString("base64") }) };
  return {
    prefix: Buffer.from('{"metadata":{"resourceVersion":"'),
    suffix: Buffer.from(`"},${stringifyJson(fields).slice(1)}`),
  };
}
