import { describe, expect, test } from "bun:test";
import type { KubeObject } from "../api/object-meta.ts";
import { defaultStrategy } from "./default-strategy.ts";
import { plainDeletion } from "./delete-options.ts";
import { beginDeletion, type DeletionStep } from "./deletion.ts";
import type { DeleteOptions, Strategy } from "./strategy.ts";

const nowMs = Date.parse("2026-01-02T03:04:05Z");
const graceful: Strategy = {
  ...defaultStrategy,
  gracePeriodSeconds: (_object, options) => options.gracePeriodSeconds ?? 30,
};

function object(metadata: KubeObject["metadata"]): KubeObject {
  return { kind: "Thing", apiVersion: "v1", metadata: { name: "a", ...metadata } };
}

function metaOf(step: DeletionStep): KubeObject["metadata"] {
  if (step.kind !== "mark") throw new Error(`expected a mark, got ${step.kind}`);
  return step.object.metadata;
}

describe("beginDeletion()", () => {
  test("removes an object that nothing holds", () => {
    expect(beginDeletion(object({}), defaultStrategy, plainDeletion, nowMs)).toEqual({ kind: "remove" });
  });

  test("keeps the dependents of kinds that orphan by default, unless the client says otherwise", () => {
    const orphaning: Strategy = { ...defaultStrategy, orphansByDefault: true };
    expect(metaOf(beginDeletion(object({}), orphaning, plainDeletion, nowMs)).finalizers).toEqual(["orphan"]);
    const background: DeleteOptions = { ...plainDeletion, propagationPolicy: "Background" };
    expect(beginDeletion(object({}), orphaning, background, nowMs)).toEqual({ kind: "remove" });
  });

  test("marks an object with finalizers and counts its generation", () => {
    const step = beginDeletion(object({ finalizers: ["x/y"], generation: 3 }), defaultStrategy, plainDeletion, nowMs);
    expect(metaOf(step)).toMatchObject({
      deletionTimestamp: "2026-01-02T03:04:05Z",
      deletionGracePeriodSeconds: 0,
      generation: 4,
      finalizers: ["x/y"],
    });
  });

  test.each([300_000_000_000, 2 ** 53, 2 ** 63])(
    "a grace of %p seconds ends with the last time there is",
    (seconds) => {
      const options = { ...plainDeletion, gracePeriodSeconds: seconds };
      const metadata = metaOf(beginDeletion(object({}), graceful, options, nowMs));
      expect(metadata.deletionTimestamp).toBe("9999-12-31T23:59:59Z");
      expect(metadata.deletionGracePeriodSeconds).toBe((Date.parse("9999-12-31T23:59:59Z") - nowMs) / 1000);
    },
  );

  test.each([
    ["Orphan", ["orphan"]],
    ["Foreground", ["foregroundDeletion"]],
  ] as const)("propagation policy %s adds the finalizer %j", (propagationPolicy, finalizers) => {
    const step = beginDeletion(object({}), defaultStrategy, { ...plainDeletion, propagationPolicy }, nowMs);
    expect(metaOf(step).finalizers).toEqual([...finalizers]);
  });

  test("propagation policy Background takes the other policies' finalizers away", () => {
    const options = { ...plainDeletion, propagationPolicy: "Background" } as const;
    expect(beginDeletion(object({ finalizers: ["orphan"] }), defaultStrategy, options, nowMs)).toEqual({
      kind: "remove",
    });
  });

  test("a second delete changes nothing while finalizers are left", () => {
    const marked = object({ finalizers: ["x/y"], deletionTimestamp: "2026-01-02T03:04:05Z" });
    expect(beginDeletion(marked, defaultStrategy, plainDeletion, nowMs).kind).toBe("unchanged");
  });

  test.each([
    ["Background", ["foregroundDeletion"], undefined],
    ["Foreground", ["orphan"], ["foregroundDeletion"]],
    ["Background", ["orphan", "x/y"], ["x/y"]],
  ] as const)("a second delete with propagation policy %s turns the finalizers %j into %j", (policy, before, after) => {
    const marked = object({ finalizers: [...before], deletionTimestamp: "2026-01-02T03:04:05Z" });
    const step = beginDeletion(marked, defaultStrategy, { ...plainDeletion, propagationPolicy: policy }, nowMs);
    if (after === undefined) expect(step).toEqual({ kind: "remove" });
    else expect(metaOf(step).finalizers).toEqual([...after]);
  });

  test("a second delete gives the object the finalizer of its propagation policy", () => {
    const marked = object({ finalizers: ["x/y"], deletionTimestamp: "2026-01-02T03:04:05Z" });
    const step = beginDeletion(marked, defaultStrategy, { ...plainDeletion, propagationPolicy: "Orphan" }, nowMs);
    expect(metaOf(step).finalizers).toEqual(["x/y", "orphan"]);
  });

  test("a negative grace means nothing to a kind without graceful deletion", () => {
    const metadata = { finalizers: ["x/y"], deletionTimestamp: "2026-01-02T03:04:05Z", deletionGracePeriodSeconds: 0 };
    const options = { ...plainDeletion, gracePeriodSeconds: -1 };
    expect(beginDeletion(object(metadata), defaultStrategy, options, nowMs).kind).toBe("unchanged");
  });

  test("grace lets the object live until its end", () => {
    const step = beginDeletion(object({}), graceful, plainDeletion, nowMs);
    expect(metaOf(step)).toMatchObject({
      deletionTimestamp: "2026-01-02T03:04:35Z",
      deletionGracePeriodSeconds: 30,
    });
  });

  test.each([
    ["shorter", 10, "2026-01-02T03:04:15Z", 10],
    ["negative", -5, "2026-01-02T03:04:06Z", 1],
  ] as const)("a second delete with %s grace moves the end", (_name, seconds, end, grace) => {
    const pending = object({ deletionTimestamp: "2026-01-02T03:04:35Z", deletionGracePeriodSeconds: 30 });
    const options = { ...plainDeletion, gracePeriodSeconds: seconds };
    const strategy = { ...graceful, gracePeriodSeconds: () => 30 };
    expect(metaOf(beginDeletion(pending, strategy, options, nowMs))).toMatchObject({
      deletionTimestamp: end,
      deletionGracePeriodSeconds: grace,
    });
  });

  test("a second delete with longer grace changes nothing", () => {
    const pending = object({ deletionTimestamp: "2026-01-02T03:04:35Z", deletionGracePeriodSeconds: 30 });
    expect(beginDeletion(pending, graceful, { ...plainDeletion, gracePeriodSeconds: 60 }, nowMs).kind).toBe(
      "unchanged",
    );
  });

  test("a second delete without grace removes what has no finalizers", () => {
    const pending = object({ deletionTimestamp: "2026-01-02T03:04:35Z", deletionGracePeriodSeconds: 30 });
    expect(beginDeletion(pending, graceful, { ...plainDeletion, gracePeriodSeconds: 0 }, nowMs).kind).toBe("remove");
  });
});
