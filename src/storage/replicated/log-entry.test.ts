import { expect, test } from "bun:test";
import fc from "fast-check";
import { toRevision } from "../../api/revision.ts";
import { IndexCache } from "../mvcc/index-text.ts";
import type { Command } from "../store.ts";
import { type Decision, encodeCommands, encodeDecision, LogEntry, UnknownLogEntryError } from "./log-entry.ts";

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(toRevision);
const text = fc.string({ unit: "binary", maxLength: 20 });
const labels = fc.option(
  fc.dictionary(text, text, { minKeys: 1, maxKeys: 4, noNullPrototype: true }).map((map) => ({ ...map })),
  { nil: undefined },
);
const owners = fc.option(
  fc.array(fc.record({ uid: text, controller: fc.boolean(), blockOwnerDeletion: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
  { nil: undefined },
);
const body = fc.record({ prefix: fc.uint8Array({ maxLength: 40 }), suffix: fc.uint8Array({ maxLength: 40 }) });
const expectation: fc.Arbitrary<Command["expect"]> = fc.oneof(
  fc.constant({ kind: "absent" as const }),
  fc.constant({ kind: "any" as const }),
  revision.map((value) => ({ kind: "revision" as const, revision: value })),
);
const operation: fc.Arbitrary<Command["operation"]> = fc.oneof(
  fc.record({ kind: fc.constant("delete" as const), last: body }),
  fc.record({
    kind: fc.constant("put" as const),
    index: fc.record({ apiVersion: text, uid: text, labels, fields: labels, owners }),
    body,
  }),
);
const key = text.map((name) => `/registry/${name}`);
const premises = fc.array(fc.record({ key, revision }), { minLength: 1, maxLength: 3 });
const command = fc.record(
  { key, expect: expectation, premises, operation },
  { requiredKeys: ["key", "expect", "operation"] },
);
const id = fc.record({ origin: fc.uuid(), sequence: fc.nat(), floor: fc.nat(), basis: fc.nat() });

test("a batch of commands is read back as it was written", () => {
  fc.assert(
    fc.property(id, fc.array(command, { maxLength: 5 }), (batch, commands) => {
      const entry = new LogEntry(encodeCommands(batch, commands));
      expect(entry.isDecision).toBe(false);
      expect(entry.id).toEqual(batch);
      expect(plain(entry.commands(new IndexCache()))).toEqual(plain(commands));
    }),
  );
});

const batchId = { origin: "a", sequence: 1, floor: 1, basis: 0 };
const member = { id: 2, name: "b", peerAddress: "10.0.0.2:7380", clientUrl: "https://10.0.0.2:6443" };

const decisions: readonly Decision[] = [
  { kind: "compact", revision: toRevision(7) },
  { kind: "member", member },
  { kind: "forgetMember", id: 2 },
  { kind: "verify", index: 9, revision: toRevision(8), hash: 2 ** 48 - 1 },
];

for (const decision of decisions) {
  test(`a decision to ${decision.kind} is read back as it was written`, () => {
    const entry = new LogEntry(encodeDecision(batchId, decision));
    expect(entry.isDecision).toBe(true);
    expect(entry.id).toEqual(batchId);
    expect(entry.decision()).toEqual(decision);
  });
}

test("an entry of a newer version is refused, not skipped", () => {
  const ofFormat = encodeDecision(batchId, decisions[0] as Decision);
  ofFormat[0] = 2;
  expect(() => new LogEntry(ofFormat)).toThrow(new UnknownLogEntryError("an entry of the log has format 2"));
  const ofKind = encodeDecision(batchId, decisions[0] as Decision);
  ofKind[1] = 9;
  expect(() => new LogEntry(ofKind)).toThrow(UnknownLogEntryError);
  const unknown = encodeDecision(batchId, { kind: "vanish" } as unknown as Decision);
  expect(() => new LogEntry(unknown).decision()).toThrow(UnknownLogEntryError);
});

test("an entry that is cut off anywhere is refused", () => {
  const put: Command = {
    key: "/registry/configmaps/a/b",
    expect: { kind: "any" },
    premises: [{ key: "/registry/namespaces/a", revision: toRevision(7) }],
    operation: {
      kind: "put",
      index: { apiVersion: "v1", uid: "u", labels: { a: "b" }, fields: undefined, owners: undefined },
      body: { prefix: Buffer.from('{"a":"'), suffix: Buffer.from('"}') },
    },
  };
  const whole = encodeCommands(batchId, [put]);
  for (let length = 0; length < whole.length; length++) {
    expect(() => new LogEntry(whole.subarray(0, length)).commands(new IndexCache())).toThrow();
  }
});

/** Label sets come back without a prototype. */
function plain(commands: readonly Command[]): unknown {
  return JSON.parse(
    JSON.stringify(commands, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
    ),
  );
}
