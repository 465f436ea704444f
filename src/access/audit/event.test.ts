import { expect, test } from "bun:test";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import type { AuditEvent } from "./event.ts";
import { eventText, testEvent, testRequest } from "./testing.ts";

const hostile = '"\\\n\r\u2028\u0000\u001b[31m__proto__é';

test("every field in upstream's order", () => {
  const text = eventText(
    testEvent({
      requestObject: '{"a":1}',
      responseObject: '{"b":2}',
      impersonatedUser: { name: "o", uid: "", groups: [], extra: new Map() },
      impersonationConstraint: "impersonate:user-info",
      object: { name: "other", uid: "u1", resourceVersion: "7" },
    }),
  );
  expect(JSON.parse(text)).toEqual({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: "id-1",
    stage: "ResponseComplete",
    requestURI: "/api/v1/namespaces/ns/pods/p",
    verb: "get",
    user: { username: "u", uid: "1", groups: ["g"], extra: { k: ["v"] } },
    impersonatedUser: { username: "o" },
    authenticationMetadata: { impersonationConstraint: "impersonate:user-info" },
    sourceIPs: ["10.0.0.1"],
    userAgent: "x/1",
    objectRef: { resource: "pods", namespace: "ns", name: "p", uid: "u1", apiVersion: "v1", resourceVersion: "7" },
    responseStatus: { metadata: {}, code: 200 },
    requestObject: { a: 1 },
    responseObject: { b: 2 },
    requestReceivedTimestamp: "1970-01-01T00:00:01.000000Z",
    stageTimestamp: "1970-01-01T00:00:02.500000Z",
    annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "why" },
  });
  expect(Object.keys(JSON.parse(text)).slice(0, 8)).toEqual([
    "kind",
    "apiVersion",
    "level",
    "auditID",
    "stage",
    "requestURI",
    "verb",
    "user",
  ]);
});

test("attack 72: no text of a client breaks the line", () => {
  const info = {
    ...parseRequestInfo("GET", "/api/v1/namespaces/ns/pods/p"),
    namespace: hostile,
    name: hostile,
  } as AuditEvent["info"];
  const user = { name: hostile, uid: hostile, groups: [hostile], extra: new Map([[hostile, [hostile]]]) };
  const annotations = { decision: "forbid", reason: hostile, more: new Map([[hostile, hostile]]) };
  const incoming = testRequest(
    [
      ["user-agent", hostile],
      ["x-forwarded-for", hostile],
    ],
    `/x${hostile}`,
  );
  const text = eventText(testEvent({ info, user, annotations, request: incoming }));
  for (const control of ["\n", "\r", "\u001b"]) expect(text).not.toContain(control);
  expect(JSON.parse(text)).toMatchObject({
    user: { username: hostile },
    userAgent: hostile,
    objectRef: { name: hostile },
    sourceIPs: ["10.0.0.1"],
  });
});

test.each([
  ["/api/v1/namespaces/ns/pods/p", "p", "pods"],
  ["/api/v1/namespaces/ns/pods/p?x=1&y=a+b", "p", "pods"],
  ['/api/v1/namespaces/ns/pods/"p"', '"p"', "pods"],
  ["/api/v1/namespaces/ns/pods/%22p%22", '"p"', "pods"],
  ['/apis/a"b/v1/namespaces/ns/x"y/p', "p", 'x"y'],
  ["/api/v1/namespaces/ns/p%C3%A9ds/p", "p", "péds"],
])("%s is recorded as it is parsed", (path, name, resource) => {
  const info = parseRequestInfo("GET", path);
  const event = JSON.parse(eventText(testEvent({ request: testRequest([], path), info })));
  expect(event.requestURI).toBe(path);
  expect(event.objectRef).toMatchObject({ name, resource });
});

test("a name from a selector is not part of the path, and cannot break the line either", () => {
  const path = "/api/v1/pods?fieldSelector=metadata.name%3Da%22b";
  const info = parseRequestInfo("GET", path);
  expect(JSON.parse(eventText(testEvent({ request: testRequest([], path), info }))).objectRef.name).toBe('a"b');
});

test("forwarded addresses are listed if they are valid, up to a limit", () => {
  const ips = (...headers: [string, string][]) =>
    JSON.parse(eventText(testEvent({ request: testRequest(headers) }))).sourceIPs;
  expect(ips(["x-forwarded-for", "1.1.1.1, nonsense,::1"], ["x-real-ip", "2.2.2.2"])).toEqual([
    "1.1.1.1",
    "::1",
    "2.2.2.2",
    "10.0.0.1",
  ]);
  expect(
    ips(["x-forwarded-for", Array.from({ length: 5_000 }, (_, at) => `10.1.${at >> 8}.${at & 255}`).join(",")]).length,
  ).toBeLessThan(40);
});

test("cached data of a user belongs to that user, address and agent", () => {
  const user = { name: "u", uid: "", groups: [], extra: new Map() };
  const whoOf = (more: Partial<AuditEvent>) => {
    const { user: who, sourceIPs, userAgent, impersonatedUser } = JSON.parse(eventText(testEvent({ user, ...more })));
    return [who.username, sourceIPs[0], userAgent, impersonatedUser?.username];
  };
  expect(whoOf({ request: testRequest([["user-agent", "a"]]) })).toEqual(["u", "10.0.0.1", "a", undefined]);
  expect(whoOf({ request: testRequest([["user-agent", "b"]]) })).toEqual(["u", "10.0.0.1", "b", undefined]);
  expect(whoOf({ request: { ...testRequest([["user-agent", "b"]]), remoteAddress: "10.0.0.2" } })).toEqual([
    "u",
    "10.0.0.2",
    "b",
    undefined,
  ]);
  expect(whoOf({ impersonatedUser: { ...user, name: "o" }, request: testRequest([["user-agent", "b"]]) })).toEqual([
    "u",
    "10.0.0.1",
    "b",
    "o",
  ]);
  expect(whoOf({ request: testRequest([]) })).toEqual(["u", "10.0.0.1", undefined as never, undefined]);
  const extra = (id: string) => ({ ...user, extra: new Map([["k", [id]]]) });
  const extraOf = (id: string) => JSON.parse(eventText(testEvent({ user: extra(id) }))).user.extra;
  expect([extraOf("1"), extraOf("2")]).toEqual([{ k: ["1"] }, { k: ["2"] }]);
  expect(JSON.parse(eventText(testEvent({ user }))).user.extra).toBeUndefined();
});
