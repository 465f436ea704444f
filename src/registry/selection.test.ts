import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Entry, Key } from "../api/entry.ts";
import { matchesFields, parseFieldSelector } from "../api/field-selector.ts";
import { matchesLabels, parseLabelSelector } from "../api/label-selector.ts";
import type { Revision } from "../api/revision.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { Scheme } from "../kinds/scheme.ts";
import { Cacher, type ListOptions } from "../storage/cacher/cacher.ts";
import { ManualClock, settle } from "../storage/cacher/testing.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { selectionOf } from "./selection.ts";

const pods = Scheme.builtIn().find("", "v1", "pods") as ResourceInfo;
const prefix = pods.keyPrefix;

interface Write {
  readonly kind: "write";
  readonly key: Key;
  readonly labels: Record<string, string>;
  readonly node: string;
  readonly gone: boolean;
}
interface Question {
  readonly kind: "list";
  readonly namespace: string;
  readonly labels: string;
  readonly fields: string;
  readonly limit: number;
  /** Number of revisions back. */
  readonly back: number;
}

const value = fc.constantFrom("", "x", "y", "z");
const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constant("write" as const),
  key: fc.tuple(fc.constantFrom("a", "a-b", "b"), fc.nat(9)).map(([space, name]) => `${prefix}${space}/${name}`),
  labels: fc.dictionary(fc.constantFrom("app", "tier", "constructor"), value, { maxKeys: 3, noNullPrototype: true }),
  node: value,
  gone: fc.boolean(),
});
const requirement = fc
  .tuple(
    fc.constantFrom("app", "tier", "constructor"),
    value,
    fc.constantFrom("=v", "==v", "!=v", " in (v,x)", " in (v)", " notin (v,y)", "", "!"),
  )
  .map(([key, v, form]) => (form === "!" ? `!${key}` : key + form.replace("v", v)));
const term = fc.oneof(
  fc.tuple(fc.constantFrom("spec.nodeName", "status.phase"), fc.constantFrom("=", "!="), value).map((t) => t.join("")),
  fc.nat(9).map((name) => `metadata.name=${name}`),
  fc.constantFrom("a", "b").map((space) => `metadata.namespace=${space}`),
);
const question: fc.Arbitrary<Question> = fc.record({
  kind: fc.constant("list" as const),
  namespace: fc.constantFrom("", "", "a", "b"),
  labels: fc.array(requirement, { maxLength: 2 }).map((all) => all.join(",")),
  fields: fc.array(term, { maxLength: 2 }).map((all) => all.join(",")),
  limit: fc.constantFrom(0, 0, 1, 3),
  back: fc.constantFrom(0, 0, 0, 1, 4),
});

/** The same question many times in a row makes the cache learn its facets. */
const step = fc.oneof(
  { weight: 3, arbitrary: write },
  { weight: 2, arbitrary: question },
  { weight: 1, arbitrary: fc.constant({ kind: "turn" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "wait" as const }) },
);

test.each([
  ["all postings", {}],
  ["one facet", { postedFacetsMax: 1 }],
  ["few entries", { postedEntriesMax: 12 }],
])(
  "lists with selectors equal a filter of every object, whichever postings exist: %s",
  async (_title, limits) => {
    let lookups = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { minLength: 8, maxLength: 30 }),
        fc.array(question, { minLength: 1, maxLength: 3 }),
        fc.array(step, { minLength: 40, maxLength: 80 }),
        async (first, usual, steps) => {
          const system = await System.open({ postedResourceMin: 1, postedStepMax: 4, postedAgeMs: 15_000, ...limits });
          for (const each of first) await system.write(each);
          for (const each of steps) {
            if (each.kind === "write") await system.write(each);
            else if (each.kind === "list") await system.check(each);
            else if (each.kind === "turn") await settle(1);
            else system.clock.advance(10_000);
            for (const one of usual) await system.check(one);
          }
          lookups += system.lookups;
          system.cacher.close();
        },
      ),
      { numRuns: 50 },
    );
    expect(lookups).toBeGreaterThan(100);
  },
  60_000,
);

/** A cache, and every past state as the store gave it. */
class System {
  readonly store = new MemoryStore();
  readonly clock = new ManualClock();
  readonly cacher: Cacher;
  readonly #states = new Map<Revision, readonly Entry[]>();
  lookups = 0;

  private constructor(limits: ConstructorParameters<typeof Cacher>[0]["limits"]) {
    const { store, clock } = this;
    this.cacher = new Cacher({ store, clock, prefix, ...(limits === undefined ? {} : { limits }) });
    this.#states.set(store.revision, []);
  }

  static async open(limits: ConstructorParameters<typeof Cacher>[0]["limits"]): Promise<System> {
    return new System(limits);
  }

  async write({ key, labels, node, gone }: Write): Promise<void> {
    const fields = { ...(node === "" ? {} : { "spec.nodeName": node }), "status.phase": node === "x" ? "y" : "z" };
    const body = {
      prefix: new TextEncoder().encode('{"metadata":{"resourceVersion":"'),
      suffix: new TextEncoder().encode('"}}'),
    };
    const index = { apiVersion: "v1", uid: key, labels, fields, owners: undefined };
    const current = this.store.get(key);
    if (gone && current === undefined) return;
    await this.store.commit({
      key,
      expect: gone && current !== undefined ? { kind: "revision", revision: current.revision } : { kind: "any" },
      operation: gone ? { kind: "delete", last: body } : { kind: "put", index, body },
    });
    this.#states.set(this.store.revision, this.store.scan(prefix));
  }

  /** Reads all pages of a list, and compares them with a filter of the state. */
  async check({ namespace, labels: labelText, fields: fieldText, limit, back }: Question): Promise<void> {
    const labels = parseLabelSelector(labelText);
    const fields = parseFieldSelector(fieldText);
    const { prefix: below, key, matches, pins } = selectionOf(pods, namespace, "", { labels, fields });
    const at = Math.max(1, this.store.revision - back) as Revision;
    const expected = (this.#states.get(at) ?? []).filter((entry) => {
      const [space, name] = entry.key.slice(prefix.length).split("/") as [string, string];
      const read = (label: string) =>
        label === "metadata.name" ? name : label === "metadata.namespace" ? space : (entry.index.fields?.[label] ?? "");
      const isBelow = namespace === "" || space === namespace;
      return isBelow && matchesLabels(labels, entry.index.labels) && matchesFields(fields, read);
    });
    const found: Entry[] = [];
    const { counts } = this.cacher;
    for (let start: Key | undefined = below; start !== undefined; ) {
      const examined = counts.examined;
      const options: ListOptions = {
        prefix: key ?? below,
        start,
        pins,
        isRequest: true,
        ...(limit > 0 ? { limit } : {}),
        ...(back > 0 || found.length > 0 ? { at } : {}),
        matches: (entry) => (key === undefined || entry.key === key) && (matches?.(entry) ?? true),
      };
      const page = await this.cacher.list(options);
      if (limit > 0) expect(page.entries.length).toBeLessThanOrEqual(limit);
      expect(page.revision).toBe(at);
      if (limit === 0 && counts.examined - examined < this.cacher.size && pins.length > 0) this.lookups++;
      found.push(...page.entries);
      start = page.next;
    }
    expect(found).toEqual(expected);
  }
}
