import { describe, expect, test } from "bun:test";
import { random, seed } from "../../raft/testing/seed.ts";
import type { Observed, Operation, Outcome, Request } from "../history/operation.ts";
import { registerLaw } from "./register-law.ts";

const at = (invokedMs: number, returnedMs: number, request: Request, outcome: Outcome): Operation => ({
  client: "c",
  member: 1,
  key: "k",
  request,
  outcome,
  invokedMs,
  returnedMs,
});
const ok = (value: string, revision: number): Outcome => ({
  kind: "ok",
  object: { key: "k", uid: "u", revision, value, color: "red" },
});
const done: Outcome = { kind: "ok", object: undefined };
const unknown: Outcome = { kind: "unknown", why: "timeout" };
const get: Request = { verb: "get" };
const create = (value: string): Request => ({ verb: "create", value, color: "red" });
const update = (value: string, expected: number): Request => ({ verb: "update", value, expected, color: "red" });
const patch = (value: string): Request => ({ verb: "patch", value, color: "red" });
const remove = (expected?: number): Request => ({ verb: "delete", expected });

describe("histories by hand", () => {
  test.each<[what: string, operations: Operation[]]>([
    [
      "create, update, delete",
      [at(0, 1, create("a"), ok("a", 5)), at(2, 3, update("b", 5), ok("b", 6)), at(4, 5, remove(), done)],
    ],
    [
      "exists while it is being deleted",
      [at(0, 1, create("a"), ok("a", 5)), at(2, 9, remove(), done), at(3, 8, create("b"), { kind: "exists" })],
    ],
    [
      "a conflict after somebody else's write",
      [
        at(0, 1, create("a"), ok("a", 5)),
        at(2, 3, patch("b"), ok("b", 6)),
        at(4, 5, update("c", 5), { kind: "conflict" }),
      ],
    ],
    [
      "a conflict explained by a write of unknown outcome",
      [
        at(0, 1, create("a"), ok("a", 5)),
        at(2, 3, patch("b"), unknown),
        at(4, 5, update("c", 5), { kind: "conflict" }),
      ],
    ],
    [
      "an unknown create is found existing",
      [at(0, 1, create("a"), unknown), at(2, 3, create("b"), { kind: "exists" })],
    ],
    [
      "an update upon what only a read saw",
      [at(0, 1, create("a"), unknown), at(2, 3, get, ok("a", 5)), at(4, 5, update("b", 5), ok("b", 7))],
    ],
    [
      "a refused write says nothing",
      [at(0, 1, create("a"), { kind: "refused", why: "429" }), at(2, 3, get, { kind: "absent" })],
    ],
  ])("right: %s", (_, operations) => expect(registerLaw(operations)).toEqual([]));

  test.each<[what: string, operations: Operation[]]>([
    ["an acknowledged create is lost", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, get, { kind: "absent" })]],
    ["created twice", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, create("b"), ok("b", 6))]],
    [
      "both of two swaps win",
      [at(0, 1, create("a"), ok("a", 5)), at(2, 9, update("b", 5), ok("b", 6)), at(2, 9, update("c", 5), ok("c", 7))],
    ],
    ["a conflict with nobody", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, update("b", 5), { kind: "conflict" })]],
    [
      "a deleted object is back",
      [at(0, 1, create("a"), ok("a", 5)), at(2, 3, remove(), done), at(4, 5, get, ok("a", 5))],
    ],
    ["a refused write happened", [at(0, 1, create("a"), { kind: "refused", why: "429" }), at(2, 3, get, ok("a", 5))]],
    ["a value from nowhere", [at(0, 1, get, ok("z", 5))]],
    ["one value at two revisions", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, get, ok("a", 6))]],
    ["two values at one revision", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, patch("b"), ok("b", 5))]],
    [
      "an answer with another value than was written",
      [at(0, 1, create("a"), unknown), at(2, 3, patch("b"), ok("a", 5))],
    ],
    ["a stale read", [at(0, 1, create("a"), ok("a", 5)), at(2, 3, patch("b"), ok("b", 6)), at(4, 5, get, ok("a", 5))]],
    ["a deletion of what was not there", [at(0, 1, remove(), done)]],
    [
      "a patch was applied again later",
      [
        at(0, 1, create("a"), ok("a", 5)),
        at(2, 3, patch("b"), unknown),
        at(4, 5, get, ok("b", 6)),
        at(6, 7, patch("c"), ok("c", 7)),
        at(8, 9, get, ok("b", 6)),
      ],
    ],
  ])("wrong: %s", (_, operations) => expect(registerLaw(operations)).toHaveLength(1));

  test("the violation names the step that has no place, and the possible states", () => {
    const operations = [at(0, 1, create("a"), ok("a", 5)), at(2, 3, get, { kind: "absent" })];
    expect(registerLaw(operations)[0]?.detail).toBe(
      "k: get by c at member 1 (2.0–3.0 ms) → absent fits nowhere: it found a",
    );
  });

  test("keys are independent", () => {
    const elsewhere = { ...at(2, 3, get, { kind: "absent" } as const), key: "other" };
    expect(registerLaw([at(0, 1, create("a"), ok("a", 5)), elsewhere])).toEqual([]);
  });
});

/** Records a real register with concurrent clients. Each operation takes effect at a moment between call and return. */
function recordedHistory(count: number, unknownShare: number): Operation[] {
  let object: Observed | undefined;
  let revision = 10;
  let seen: number = 0;
  const plans = Array.from({ length: count }, (_, number) => {
    const effectMs = number * 3 + random() * 12;
    return { number, effectMs, invokedMs: effectMs - random() * 9, returnedMs: effectMs + random() * 9 };
  }).sort((left, right) => left.effectMs - right.effectMs);
  return plans.map(({ number, invokedMs, returnedMs }) => {
    const request = randomRequest(`v${number}`);
    const isLost = random() < unknownShare;
    const outcome = isLost && random() < 0.5 ? unknown : perform(request);
    if (!isLost && request.verb === "get" && outcome.kind === "ok") seen = outcome.object?.revision ?? seen;
    return at(invokedMs, returnedMs, request, isLost ? unknown : outcome);
  });

  function randomRequest(value: string): Request {
    const kinds = [
      get,
      get,
      get,
      create(value),
      update(value, seen),
      update(value, seen),
      patch(value),
      remove(),
      remove(seen),
    ];
    return kinds[Math.floor(random() * kinds.length)] as Request;
  }

  function perform(request: Request): Outcome {
    const before = object;
    if (request.verb === "create" ? before !== undefined : before === undefined) {
      return { kind: request.verb === "create" ? "exists" : "absent" };
    }
    const isOther = "expected" in request && request.expected !== undefined && request.expected !== before?.revision;
    if (isOther) return { kind: "conflict" };
    if (request.verb === "get") return { kind: "ok", object: before };
    revision++;
    object = "value" in request ? { key: "k", uid: "u", revision, value: request.value, color: "red" } : undefined;
    return { kind: "ok", object };
  }
}

describe(`random histories of a real register, seed ${seed}`, () => {
  test("are accepted even if many outcomes are lost", () => {
    for (let round = 0; round < 300; round++) {
      const operations = recordedHistory(60, (round % 4) * 0.03);
      expect({ operations, violations: registerLaw(operations) }).toEqual({ operations, violations: [] });
    }
  });

  test("are rejected when one read is replaced by a certainly stale one", () => {
    let tried = 0;
    for (let round = 0; round < 300; round++) {
      const operations = recordedHistory(60, 0);
      const stale = staleRead(operations);
      if (stale === undefined) continue;
      tried++;
      expect(registerLaw([...operations, stale])).toHaveLength(1);
    }
    expect(tried).toBeGreaterThan(200);
  });

  /**
   * Returns a read that follows everything else, with a value that was written and answered before the newest write was
   * requested.
   */
  function staleRead(operations: readonly Operation[]): Operation | undefined {
    const written = operations.flatMap(({ request, outcome, invokedMs, returnedMs }) =>
      "value" in request && outcome.kind === "ok" && outcome.object !== undefined
        ? [{ object: outcome.object, invokedMs, returnedMs }]
        : [],
    );
    const newest = written.toSorted((left, right) => right.object.revision - left.object.revision)[0];
    const older = written.find(({ returnedMs }) => newest !== undefined && returnedMs < newest.invokedMs);
    return older === undefined ? undefined : at(10_000, 10_001, get, { kind: "ok", object: older.object });
  }
});
