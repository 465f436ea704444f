import { expect, test } from "bun:test";
import type { IncomingRequest } from "../http/exchange.ts";
import { parseRequestInfo } from "../http/parse-request-info.ts";
import { type AuditEvent, eventText } from "./event.ts";

const hostile = '"\\\n\r\u2028\u0000\u001b[31m__proto__é';

function request(headers: IncomingRequest["headers"], rawPath = "/api/v1/namespaces/ns/pods/p"): IncomingRequest {
  const none = { kind: "none" } as const;
  const rest = { peer: none, remoteAddress: "10.0.0.1", httpVersion: "2" as const, body: async () => new Uint8Array() };
  return { method: "GET", rawPath, headers, signal: new AbortController().signal, ...rest };
}

function event(more: Partial<AuditEvent> = {}): AuditEvent {
  const incoming = more.request ?? request([["user-agent", "x/1"]]);
  return {
    level: "Metadata",
    auditId: "id-1",
    stage: "ResponseComplete",
    info: parseRequestInfo("GET", "/api/v1/namespaces/ns/pods/p"),
    user: { name: "u", uid: "1", groups: ["g"], extra: new Map([["k", ["v"]]]) },
    impersonatedUser: undefined,
    impersonationConstraint: "",
    object: {},
    responseStatus: '{"metadata":{},"code":200}',
    requestObject: undefined,
    responseObject: undefined,
    receivedMs: 1_000,
    stageMs: 2_500,
    annotations: { decision: "allow", reason: "why", more: undefined },
    ...more,
    request: incoming,
  };
}

test("every field in upstream's order", () => {
  const text = eventText(
    event({
      requestObject: '{"a":1}',
      responseObject: '{"b":2}',
      impersonatedUser: { name: "o", uid: "", groups: [], extra: new Map() },
      impersonationConstraint: "impersonate:user-info",
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
    objectRef: { resource: "pods", namespace: "ns", name: "p", apiVersion: "v1" },
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

test("attack 72: nothing that a client says breaks the line", () => {
  const info = {
    ...parseRequestInfo("GET", "/api/v1/namespaces/ns/pods/p"),
    namespace: hostile,
    name: hostile,
  } as AuditEvent["info"];
  const user = { name: hostile, uid: hostile, groups: [hostile], extra: new Map([[hostile, [hostile]]]) };
  const annotations = { decision: "forbid", reason: hostile, more: new Map([[hostile, hostile]]) };
  const incoming = request(
    [
      ["user-agent", hostile],
      ["x-forwarded-for", hostile],
    ],
    `/x${hostile}`,
  );
  const text = eventText(event({ info, user, annotations, request: incoming }));
  for (const control of ["\n", "\r", "\u001b"]) expect(text).not.toContain(control);
  expect(JSON.parse(text)).toMatchObject({
    user: { username: hostile },
    userAgent: hostile,
    objectRef: { name: hostile },
    sourceIPs: ["10.0.0.1"],
  });
});

test("addresses on the way are listed when they are addresses, and not without end", () => {
  const ips = (...headers: [string, string][]) => JSON.parse(eventText(event({ request: request(headers) }))).sourceIPs;
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

test("what is kept of a user belongs to that user, address and agent", () => {
  const user = { name: "u", uid: "", groups: [], extra: new Map() };
  const whoOf = (more: Partial<AuditEvent>) => {
    const { user: who, sourceIPs, userAgent, impersonatedUser } = JSON.parse(eventText(event({ user, ...more })));
    return [who.username, sourceIPs[0], userAgent, impersonatedUser?.username];
  };
  expect(whoOf({ request: request([["user-agent", "a"]]) })).toEqual(["u", "10.0.0.1", "a", undefined]);
  expect(whoOf({ request: request([["user-agent", "b"]]) })).toEqual(["u", "10.0.0.1", "b", undefined]);
  expect(whoOf({ request: { ...request([["user-agent", "b"]]), remoteAddress: "10.0.0.2" } })).toEqual([
    "u",
    "10.0.0.2",
    "b",
    undefined,
  ]);
  expect(whoOf({ impersonatedUser: { ...user, name: "o" }, request: request([["user-agent", "b"]]) })).toEqual([
    "u",
    "10.0.0.1",
    "b",
    "o",
  ]);
  expect(whoOf({ request: request([]) })).toEqual(["u", "10.0.0.1", undefined as never, undefined]);
});
