import { expect, test } from "bun:test";
import { bodyText, del, put } from "../../test/contract/store-commands.ts";
import type { Entry } from "../api/entry.ts";
import { toRevision } from "../api/revision.ts";
import { StateMachine } from "./state-machine.ts";
import type { Premise } from "./store.ts";

const key = "/registry/pods/default/a";

test("commands of one batch see each other's effects, in order", () => {
  const absent = { kind: "absent" } as const;
  const commands = [
    put(key, "1", { expect: absent }),
    put(key, "2", { expect: absent }),
    del(key, "1"),
    put(key, "3", { expect: absent }),
  ];
  const { results, events } = new StateMachine().apply(commands);
  expect(results.map((result) => result?.kind)).toEqual(["applied", "rejected", "applied", "applied"]);
  expect(events.map(({ type }) => type)).toEqual(["ADDED", "DELETED", "ADDED"]);
});

test("a command is outdated if a premise has changed or is gone", () => {
  const [home, other] = ["/registry/namespaces/default", "/registry/namespaces/other"];
  const machine = new StateMachine();
  const kindsOf = (premises: readonly Premise[]) =>
    machine.apply([{ ...put(key, "1"), premises }]).results.map(({ kind }) => kind);
  machine.apply([put(home, "1"), put(other, "1")]);
  const premises = [home, other].map((premise) => machine.get(premise) as Entry);
  expect(kindsOf(premises)).toEqual(["applied"]);
  machine.apply([put(other, "2")]);
  expect(kindsOf(premises)).toEqual(["outdated"]);
  expect(kindsOf(premises.slice(0, 1))).toEqual(["applied"]);
  machine.apply([del(home, "1")]);
  const { revision } = machine;
  expect(kindsOf(premises.slice(0, 1))).toEqual(["outdated"]);
  expect(machine.revision).toBe(revision);
});

test("the same commands give the same state and the same bytes everywhere", () => {
  const commands = Array.from({ length: 50 }, (_, at) =>
    at % 7 === 3 ? del(`${key}${at % 5}`, "x") : put(`${key}${at % 5}`, `${at}`),
  );
  const together = new StateMachine();
  const oneByOne = new StateMachine();
  together.apply(commands);
  for (const command of commands) oneByOne.apply([command]);
  expect(oneByOne.scan("/")).toEqual(together.scan("/"));
  expect(oneByOne.revision).toBe(together.revision);
  expect(oneByOne.hash).toBe(together.hash);
});

test("the body around the gap is copied with any number of digits", () => {
  const initial = {
    revision: toRevision(2 ** 40),
    compactedRevision: toRevision(1),
    entries: [],
  };
  const machine = new StateMachine(initial);
  machine.apply([put(key, "1")]);
  expect(bodyText(machine.get(key))).toBe(`{"metadata":{"resourceVersion":"1099511627777"},"data":"1"}`);
});

test("keys that come and go between scans leave no trace and keep the order", () => {
  const machine = new StateMachine();
  machine.apply(["c", "a", "b"].map((name) => put(`/${name}`, "1")));
  machine.scan("/");
  machine.apply([del("/b", "1"), put("/b", "2"), del("/a", "1"), put("/d", "1"), del("/d", "1"), put("/d", "2")]);
  expect(machine.scan("/").map((entry) => entry.key)).toEqual(["/b", "/c", "/d"]);
  expect(machine.scan("/", "/c", 1).map((entry) => entry.key)).toEqual(["/c"]);
});

test("the hash differs between states and does not depend on how a state was reached", () => {
  const machine = new StateMachine();
  machine.apply([put("/a", "1"), put("/b", "1")]);
  const { hash } = machine;
  machine.apply([put("/c", "1"), del("/c", "1")]);
  expect(machine.hash).toBe(hash);
  machine.apply([put("/b", "2")]);
  expect(machine.hash).not.toBe(hash);
  const { revision, compactedRevision } = machine;
  expect(new StateMachine({ revision, compactedRevision, entries: [...machine.entries()] }).hash).toBe(machine.hash);
});
