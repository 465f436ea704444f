import { expect, test } from "bun:test";
import { cloneJson, type JsonObject } from "./json.ts";
import type { KubeObject } from "./object-meta.ts";
import type { StatefulSet } from "./types/apps-v1.ts";
import type { Pod, Service } from "./types/core-v1.ts";

/** The compiler checks these; what runs is that types are nothing but types. */
test("an object of a kind is an object, and an object can be taken for one of its kind", () => {
  const service: Service = { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { clusterIP: "None" } };
  const object: KubeObject = service;
  const json: JsonObject = object;
  const back: Service = object;
  expect(back.spec?.clusterIP).toBe("None");
  expect(cloneJson(service)).toEqual(json as Service);
});

test("a type knows which members may be absent or null", () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers: null } };
  expect((pod.spec?.containers ?? []).length).toBe(0);
  // @ts-expect-error: containers are always written
  const incomplete: Pod = { ...pod, spec: {} };
  // @ts-expect-error: no such member
  const misspelt: Pod = { ...pod, spec: { containers: [], hostNetworc: true } };
  expect([incomplete.kind, misspelt.kind]).toEqual(["Pod", "Pod"]);
});

test("an object inside another document needs no kind", () => {
  const claims: NonNullable<NonNullable<StatefulSet["spec"]>["volumeClaimTemplates"]> = [
    { metadata: { name: "data" } },
  ];
  expect(claims[0]?.kind).toBeUndefined();
});
