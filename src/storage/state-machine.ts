import { KeyOrder, lowerBound } from "./key-order.ts";
import { RecentCommands } from "./recent-commands.ts";
import { nextRevision, type Revision, toRevision } from "./revision.ts";
import type { ApplyResult, Command, Entry, Expect, Key, ProposedBody, StoreEvent } from "./store.ts";

/** Of an empty store: 0 is "any version" on the wire. */
export const firstRevision = toRevision(1);

/** What a batch of commands will do. Nothing of it is visible before `commit`. */
export interface PreparedBatch {
  readonly commands: readonly Command[];
  /**
   * One per command, in order. Undefined for a repeated command whose answer is no longer remembered: it was applied
   * once, and what came of it is unknown.
   */
  readonly results: readonly (ApplyResult | undefined)[];
  readonly events: readonly StoreEvent[];
  /** The state machine's revision after the batch. */
  readonly revision: Revision;
}

export interface InitialState {
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** In key order. */
  readonly entries: readonly Entry[];
  /** Oldest first. */
  readonly recentCommandIds: readonly string[];
}

/**
 * The current objects and the rules by which commands change them. Deterministic: the same commands in the same order
 * give the same state and the same results everywhere. Two steps, so that a batch is seen only once it is durable.
 */
export class StateMachine {
  readonly #entries = new Map<Key, Entry>();
  readonly #order: KeyOrder;
  readonly #recent = new RecentCommands();
  #revision: Revision;
  #compactedRevision: Revision;
  #prepared: PreparedBatch | undefined;

  constructor(initial?: InitialState) {
    this.#revision = initial?.revision ?? firstRevision;
    this.#compactedRevision = initial?.compactedRevision ?? firstRevision;
    const keys: Key[] = [];
    for (const entry of initial?.entries ?? []) {
      this.#entries.set(entry.key, entry);
      keys.push(entry.key);
    }
    this.#order = new KeyOrder((key) => this.#entries.has(key), keys);
    for (const id of initial?.recentCommandIds ?? []) this.#recent.remember(id, undefined);
  }

  get revision(): Revision {
    return this.#revision;
  }

  get compactedRevision(): Revision {
    return this.#compactedRevision;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Entry | undefined {
    return this.#entries.get(key);
  }

  /** At most `limit` entries whose key starts with `prefix` and is >= `start`, in key order. */
  scan(prefix: Key, start: Key = prefix, limit = Number.POSITIVE_INFINITY): Entry[] {
    const keys = this.#order.keys();
    const found: Entry[] = [];
    for (let at = lowerBound(keys, start > prefix ? start : prefix); at < keys.length && found.length < limit; at++) {
      const key = keys[at] as Key;
      if (!key.startsWith(prefix)) break;
      found.push(this.#entries.get(key) as Entry);
    }
    return found;
  }

  /** Ids that a repeated proposal is recognised by, oldest first. */
  recentCommandIds(): string[] {
    return this.#recent.ids();
  }

  /** Decides every command, a later one seeing the effects of the earlier. One batch at a time. */
  prepare(commands: readonly Command[]): PreparedBatch {
    if (this.#prepared !== undefined) throw new Error("a batch is prepared before the last one was committed");
    const batch = new BatchBuilder(this.#revision, this.#entries, this.#recent);
    const results = commands.map((command) => batch.decide(command));
    this.#prepared = { commands, results, events: batch.events, revision: batch.revision };
    return this.#prepared;
  }

  /** Makes a prepared batch visible. */
  commit(prepared: PreparedBatch): void {
    if (this.#prepared !== prepared) throw new Error("a batch is committed that was not prepared");
    this.#prepared = undefined;
    for (const event of prepared.events) this.#show(event);
    this.#revision = prepared.revision;
    for (let at = 0; at < prepared.commands.length; at++) {
      this.#recent.remember((prepared.commands[at] as Command).id, prepared.results[at]);
    }
  }

  /** Both steps at once, for commands that are durable already. */
  apply(commands: readonly Command[]): PreparedBatch {
    const prepared = this.prepare(commands);
    this.commit(prepared);
    return prepared;
  }

  /** Moves the mark below which history may go; never back, never beyond the current revision. Returns the mark. */
  compact(revision: Revision): Revision {
    this.#compactedRevision = this.compactionTarget(revision);
    return this.#compactedRevision;
  }

  /** Where `compact(revision)` would put the mark. */
  compactionTarget(revision: Revision): Revision {
    return toRevision(Math.max(this.#compactedRevision, Math.min(revision, this.#revision)));
  }

  #show(event: StoreEvent): void {
    const { key } = event.entry;
    if (event.type === "DELETED") {
      this.#entries.delete(key);
      this.#order.remove();
      return;
    }
    this.#entries.set(key, event.entry);
    if (event.type === "ADDED") this.#order.add(key);
  }
}

class BatchBuilder {
  readonly events: StoreEvent[] = [];
  revision: Revision;
  readonly #entries: ReadonlyMap<Key, Entry>;
  readonly #recent: RecentCommands;
  /** What the batch changed so far; undefined is deleted. */
  readonly #changed = new Map<Key, Entry | undefined>();
  readonly #decided = new Map<string, ApplyResult>();

  constructor(revision: Revision, entries: ReadonlyMap<Key, Entry>, recent: RecentCommands) {
    this.revision = revision;
    this.#entries = entries;
    this.#recent = recent;
  }

  decide(command: Command): ApplyResult | undefined {
    const decided = this.#decided.get(command.id);
    if (decided !== undefined) return decided;
    if (this.#recent.has(command.id)) return this.#recent.result(command.id);
    const result = this.#evaluate(command);
    this.#decided.set(command.id, result);
    return result;
  }

  #evaluate({ key, expect, operation }: Command): ApplyResult {
    const current = this.#changed.has(key) ? this.#changed.get(key) : this.#entries.get(key);
    if (!meets(current, expect)) return { kind: "rejected", current };
    if (operation.kind === "put") {
      const revision = nextRevision(this.revision);
      const createRevision = current?.createRevision ?? revision;
      const body = fillBody(operation.body, revision);
      return this.#record({ key, revision, createRevision, index: operation.index, body }, current, false);
    }
    if (current === undefined) return { kind: "rejected", current };
    const revision = nextRevision(this.revision);
    const { createRevision, index } = current;
    return this.#record(
      { key, revision, createRevision, index, body: fillBody(operation.last, revision) },
      current,
      true,
    );
  }

  #record(entry: Entry, previous: Entry | undefined, deleted: boolean): ApplyResult {
    const { key, revision } = entry;
    const type = deleted ? "DELETED" : previous === undefined ? "ADDED" : "MODIFIED";
    this.revision = revision;
    this.#changed.set(key, deleted ? undefined : entry);
    this.events.push({ revision, type, entry, previous });
    return { kind: "applied", revision, entry };
  }
}

function meets(current: Entry | undefined, expect: Expect): boolean {
  switch (expect.kind) {
    case "any":
      return true;
    case "absent":
      return current === undefined;
    case "revision":
      return current?.revision === expect.revision;
  }
}

const zeroDigit = 0x30;

/** The final bytes: `prefix`, the revision in decimal, `suffix`; in an array of exactly their length. */
function fillBody({ prefix, suffix }: ProposedBody, revision: Revision): Uint8Array {
  const digits = String(revision);
  const gapEnd = prefix.byteLength + digits.length;
  const body = new Uint8Array(gapEnd + suffix.byteLength);
  body.set(prefix);
  for (let at = 0; at < digits.length; at++) body[prefix.byteLength + at] = zeroDigit + Number(digits[at]);
  body.set(suffix, gapEnd);
  return body;
}
