import { expect, test } from "bun:test";
import { parseRequestInfo } from "../parse-request-info.ts";
import { estimateSeats, type WorkFacts } from "./work-estimate.ts";

const facts: WorkFacts = { sizeOf: () => ({ objects: 10_000, averageBytes: 2_000 }), watchersOf: () => 0 };
const pods = "/api/v1/namespaces/a/pods";

function seatsOf(method: string, path: string, more: Partial<WorkFacts> = {}, widest = 1_000) {
  return estimateSeats(parseRequestInfo(method, path), { ...facts, ...more }, widest);
}

test.each([
  ["reading one object", "GET", `${pods}/x`, 1],
  ["a list of 20 MB", "GET", pods, 100],
  ["a page of 1 MB", "GET", `${pods}?limit=500`, 10],
  ["a page that is selected from all objects", "GET", `${pods}?limit=5&labelSelector=a`, 100],
  ["a list of one object by its name", "GET", `${pods}?fieldSelector=metadata.name%3Dx`, 1],
  ["a watch that starts with the state", "GET", `${pods}?watch=1`, 100],
  ["a watch that continues", "GET", `${pods}?watch=1&resourceVersion=7`, 1],
  ["discovery", "GET", "/apis", 1],
])("%s takes the right number of seats", (_, method, path, initial) => {
  expect(seatsOf(method, path).initial).toBe(initial);
});

test("a request takes no more seats than its level gives to one", () => {
  expect(seatsOf("GET", pods, {}, 37).initial).toBe(37);
});

test("a list of a resource that is not stored, or of nothing, takes one seat", () => {
  expect(seatsOf("GET", pods, { sizeOf: () => undefined }).initial).toBe(1);
  expect(seatsOf("GET", pods, { sizeOf: () => ({ objects: 0, averageBytes: 0 }) }).initial).toBe(1);
});

test("a write keeps seats for the watchers of its object", () => {
  expect(seatsOf("PUT", `${pods}/x`, { watchersOf: () => 9 })).toEqual({ initial: 1, final: 0, lingerMs: 0 });
  expect(seatsOf("PUT", `${pods}/x`, { watchersOf: () => 41 })).toEqual({ initial: 1, final: 5, lingerMs: 5 });
});

test("more watchers make it keep at most ten seats, for longer", () => {
  expect(seatsOf("PUT", `${pods}/x`, { watchersOf: () => 1_000 })).toEqual({ initial: 1, final: 10, lingerMs: 50 });
});

test("a token request has no watchers", () => {
  const path = "/api/v1/namespaces/a/serviceaccounts/x/token";
  expect(seatsOf("POST", path, { watchersOf: () => 1_000 }).final).toBe(0);
});
