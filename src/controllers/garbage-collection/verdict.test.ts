import { expect, test } from "bun:test";
import type { ObjectMeta, OwnerReference } from "../../api/object-meta.ts";
import { type OwnerState, type Subject, verdictOn } from "./verdict.ts";

const deleting = "2026-01-01T00:00:00Z";

/** Returns an object with one owner for each state, whose uid is the state and its place. */
function subject(
  states: readonly OwnerState[],
  metadata: Partial<ObjectMeta> = {},
  more: Partial<Subject> = {},
): Subject {
  const ownerReferences = states.map(
    (state, at): OwnerReference => ({ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: `${state}-${at}` }),
  );
  return {
    metadata: { name: "x", ownerReferences, ...metadata },
    stateOf: ({ uid }) => uid.split("-")[0] as OwnerState,
    isBlocked: () => false,
    hasDependents: () => false,
    isInCycle: () => false,
    ...more,
  };
}

const keep = { kind: "keep" } as const;
const background = { kind: "delete", policy: "Background" } as const;
const foreground = { kind: "delete", policy: "Foreground" } as const;
const orphan = { kind: "delete", policy: "Orphan" } as const;
const parent = { hasDependents: () => true };
const blocked = { isBlocked: () => true };
const awaits = { deletionTimestamp: deleting, finalizers: ["foregroundDeletion"] };

test.each([
  ["without owners stays", subject([]), keep],
  ["with owners that are there stays", subject(["present", "present"]), keep],
  ["whose only owner is absent goes", subject(["absent"]), background],
  ["all of whose owners are absent goes", subject(["absent", "absent"]), background],
  ["that is being deleted stays", subject(["absent"], { deletionTimestamp: deleting }), keep],
  ["whose owner waits for it goes", subject(["awaitsDependents"]), background],
  ["whose owner waits takes its dependents along", subject(["awaitsDependents"], {}, parent), foreground],
  ["whose owners wait or are absent takes them along", subject(["awaitsDependents", "absent"], {}, parent), foreground],
  ["whose owner is absent lets its dependents follow", subject(["absent"], {}, parent), background],
  ["that asks for orphans gets them", subject(["absent"], { finalizers: ["orphan"] }), orphan],
  ["that asks for the foreground gets it", subject(["absent"], { finalizers: ["foregroundDeletion"] }), foreground],
  ["with an owner out of its reach stays", subject(["outOfReach", "absent"]), keep],
  ["with an owner of no kind waits", subject(["unserved", "absent"]), { kind: "undecided", state: "unserved" }],
  ["with an unreadable owner waits", subject(["unreadable", "absent"]), { kind: "undecided", state: "unreadable" }],
  ["that awaits nothing is released", subject([], awaits), { kind: "release" }],
  ["that awaits dependents stays", subject([], awaits, blocked), keep],
  ["in a cycle is unblocked", subject([], awaits, { ...blocked, isInCycle: () => true }), { kind: "unblock" }],
  [
    "that orphans its dependents first stays",
    subject([], { ...awaits, finalizers: ["orphan", "foregroundDeletion"] }),
    keep,
  ],
] as const)("an object %s", (_, given, verdict) => {
  expect(verdictOn(given)).toEqual(verdict);
});

test("an object with one owner left loses its references to the others", () => {
  const verdict = verdictOn(subject(["absent", "present", "awaitsDependents"]));
  expect(verdict).toEqual({ kind: "detach", uids: new Set(["absent-0", "awaitsDependents-2"]) });
});
