import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { Entry, Key, ObjectIndex } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import type { Clock } from "../../process/clock.ts";
import type { ByteSink } from "../../request/exchange.ts";
import type { Store } from "../store.ts";

/** A clock that moves only when a test moves it. */
export class ManualClock implements Clock {
  #steadyMs = 5_000;
  /** The system's time less the steady clock. They differ, so that no test passes that compares one with the other. */
  #setMs = 995_000;
  readonly #timers = new Set<{ dueMs: number; everyMs: number | undefined; run: () => void }>();

  get timers(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#steadyMs + this.#setMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  /** Sets the system's time forward, or back by a negative number. No timer notices. */
  set(byMs: number): void {
    this.#setMs += byMs;
  }

  after(delayMs: number, run: () => void): Disposable {
    return this.#add({ dueMs: this.#steadyMs + delayMs, everyMs: undefined, run });
  }

  every(intervalMs: number, run: () => void): Disposable {
    return this.#add({ dueMs: this.#steadyMs + intervalMs, everyMs: intervalMs, run });
  }

  advance(ms: number): void {
    const endMs = this.#steadyMs + ms;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined || next.dueMs > endMs) break;
      this.#steadyMs = next.dueMs;
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.dueMs += next.everyMs;
      next.run();
    }
    this.#steadyMs = endMs;
  }

  #add(timer: { dueMs: number; everyMs: number | undefined; run: () => void }): Disposable {
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => this.#timers.delete(timer) };
  }
}

/** A sink that collects its input. It can stall like a client that does not read. */
export class MemorySink implements ByteSink {
  readonly chunks: Uint8Array[] = [];
  readonly #controller = new AbortController();
  #stalled = false;
  #resume: (() => void)[] = [];

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get backlogBytes(): number {
    return 0;
  }

  write(chunk: Uint8Array): boolean {
    this.chunks.push(chunk);
    return !this.#stalled;
  }

  drained(): Promise<void> {
    return this.#stalled ? new Promise((resolve) => this.#resume.push(resolve)) : Promise.resolve();
  }

  stall(): void {
    this.#stalled = true;
  }

  resume(): void {
    this.#stalled = false;
    for (const resume of this.#resume.splice(0)) resume();
  }

  abort(): void {
    this.#controller.abort();
    this.resume();
  }

  /** One line per frame, e.g. `ADDED ns/a@5 {…}`. */
  get frames(): string[] {
    return this.chunks.flatMap((chunk) => new TextDecoder().decode(chunk).split("\n").slice(0, -1));
  }
}

const registryPrefix = "/registry/pods/";

/** Encodes frames as readable lines: type, key below `/registry/pods/`, and the resourceVersion of the body. */
export function lineEncoder(format = "lines"): FrameEncoder {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(`${text}\n`);
  return {
    format,
    event: (type, entry) => encode(`${type} ${entry.key.slice(registryPrefix.length)}@${bodyVersion(entry)}`),
    bookmark: (revision, end) => encode(`BOOKMARK ${revision}${end ? " end" : ""}`),
    error: (status) => encode(`ERROR ${status.code} ${status.message}`),
  };
}

export function bodyVersion(entry: Entry): string {
  return JSON.parse(new TextDecoder().decode(entry.body)).metadata.resourceVersion;
}

/** Returns the storage key of a pod such as `a/x`. A name with a leading slash is already a whole key. */
function keyOf(name: string): Key {
  return name.startsWith("/") ? name : registryPrefix + name;
}

/** Writes an object with these labels, and resolves with its revision. */
export async function put(store: Store, name: string, labels?: Record<string, string>, pad = ""): Promise<Revision> {
  const key = keyOf(name);
  const index: ObjectIndex = { apiVersion: "v1", uid: name, labels, fields: undefined, owners: undefined };
  const body = proposedBody(labels, pad);
  const result = await store.commit({
    key,
    expect: { kind: "any" },
    operation: { kind: "put", index, body },
  });
  if (result.kind !== "applied") throw new Error("write rejected");
  return result.revision;
}

/** Deletes an object. Resolves with undefined if it does not exist. */
export async function remove(store: Store, name: string): Promise<Revision | undefined> {
  const key = keyOf(name);
  const current = store.get(key);
  if (current === undefined) return undefined;
  const last = proposedBody(current.index.labels, "");
  const result = await store.commit({
    key,
    expect: { kind: "revision", revision: current.revision },
    operation: { kind: "delete", last },
  });
  return result.kind === "applied" ? result.revision : undefined;
}

function proposedBody(labels: Record<string, string> | undefined, pad: string) {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const head = `{"metadata":{"labels":${JSON.stringify(labels ?? {})},"resourceVersion":"`;
  return { prefix: encode(head), suffix: encode(`"},"pad":${JSON.stringify(pad)}}`) };
}

/** Lets everything run that waits for a turn of the event loop. */
export async function settle(turns = 6): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
