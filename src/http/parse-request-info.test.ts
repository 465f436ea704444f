import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../test/cpu-time.ts";
import { StatusError, TextError } from "../api/status.ts";
import type { ResourceRequest } from "../request/request-info.ts";
import { maxQueryParameters, parseRequestInfo } from "./parse-request-info.ts";

type Fields = Partial<ResourceRequest>;

const resources: [method: string, target: string, expected: Fields][] = [
  ["GET", "/api/v1/pods", { verb: "list", group: "", version: "v1", resource: "pods", namespace: "", name: "" }],
  ["GET", "/api/v1/pods/", { verb: "list", resource: "pods", name: "" }],
  ["HEAD", "/api/v1/pods", { verb: "list" }],
  [
    "GET",
    "/api/v1/namespaces/a/pods/b",
    { verb: "get", namespace: "a", resource: "pods", name: "b", nameInPath: true },
  ],
  ["HEAD", "/api/v1/namespaces/a/pods/b", { verb: "get" }],
  ["GET", "/api/v1/namespaces/a/pods/b/log", { verb: "get", subresource: "log", name: "b" }],
  ["GET", "/api/v1/namespaces/a", { verb: "get", resource: "namespaces", namespace: "a", name: "a" }],
  [
    "PUT",
    "/api/v1/namespaces/a/finalize",
    { verb: "update", resource: "namespaces", name: "a", subresource: "finalize" },
  ],
  ["PATCH", "/api/v1/namespaces/a/status", { verb: "patch", resource: "namespaces", name: "a", subresource: "status" }],
  ["GET", "/api/v1/namespaces", { verb: "list", resource: "namespaces", namespace: "" }],
  ["POST", "/apis/apps/v1/namespaces/a/deployments", { verb: "create", group: "apps", resource: "deployments" }],
  ["DELETE", "/apis/apps/v1/namespaces/a/deployments/d", { verb: "delete", name: "d" }],
  ["DELETE", "/apis/apps/v1/namespaces/a/deployments", { verb: "deletecollection", name: "" }],
  ["GET", "/api/v1/namespaces/a/pods/b/log/more", { name: "b", subresource: "log", isBeyond: true }],
  ["GET", "/api/v1/watch/pods", { verb: "watch", isWatchPath: true }],
  ["GET", "/api/v1/pods?limit=%zz&watch=1&a;b=1", { verb: "watch", query: new Map([["watch", ["1"]]]) }],
  ["GET", "/api/v1/pods?watch=1", { verb: "watch" }],
  ["GET", "/api/v1/pods?watch", { verb: "watch" }],
  ["GET", "/api/v1/pods?watch=", { verb: "watch" }],
  ["GET", "/api/v1/pods?watch=TRUE", { verb: "watch" }],
  ["GET", "/api/v1/pods?watch=False", { verb: "list" }],
  ["GET", "/api/v1/pods?watch=0&watch=1", { verb: "list" }],
  ["GET", "/api/v1/namespaces/a/pods/b?watch=1", { verb: "get", namespace: "a", name: "b" }],
  ["GET", "/api/v1/pods//", { verb: "list", resource: "pods", name: "" }],
  ["GET", "/api/v1/namespaces/a/namespaces/b", { resource: "namespaces", namespace: "a", name: "b", isBeyond: true }],
  ["GET", "/api/v1/pods/%252e%252e", { name: "%2e%2e" }],
  ["GET", "/api/v1/namespaces/a/pods/..", { name: ".." }],
  ["POST", "/api/v1/watch/pods", { verb: "watch", isWatchPath: true }],
  ["GET", "/api/v1/namespaces/a/pods/b/status?watch=1", { verb: "get", subresource: "status" }],
  ["GET", "/api/v1/watch/pods", { verb: "watch", resource: "pods" }],
  ["GET", "/api/v1/watch/namespaces/a/pods/b", { verb: "watch", namespace: "a", resource: "pods", name: "b" }],
  ["POST", "/api/v1/proxy/nodes/n/x/y", { verb: "proxy", resource: "nodes", name: "n", subresource: "" }],
  ["POST", "/api/v1/namespaces/a/services/s/proxy/x/y", { verb: "create", subresource: "proxy", name: "s" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx", { verb: "list", name: "x", nameInPath: false }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name==x&watch=1", { verb: "watch", name: "x" }],
  ["DELETE", "/api/v1/pods?fieldSelector=spec.nodeName=n,metadata.name=x", { verb: "deletecollection", name: "" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name!=x", { name: "" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name=x,metadata.name=y", { name: "x" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name=x&fieldSelector=metadata.name=y", { name: "x" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name=..", { name: "" }],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name=a%2Fb", { name: "" }],
  ["GET", "/api/v1/pods?fieldSelector=spec.x=a%5C,metadata.name=b", { name: "" }],
  ["GET", "/api/v1/na%6Despaces/a/p%6fds", { resource: "pods", namespace: "a" }],
  ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node", { name: "system:node" }],
  ["GET", "/api/v1/namespaces/a;x/pods", { namespace: "a;x" }],
  ["GET", "/api/v1/pods/%C3%A9", { name: "é" }],
];

const nonResources: [method: string, target: string, path: string][] = [
  ["GET", "/", "/"],
  ["GET", "/api", "/api"],
  ["GET", "/api/", "/api/"],
  ["GET", "/api/v1", "/api/v1"],
  ["GET", "/api/v1//", "/api/v1/"],
  ["GET", "/apis/apps/v1", "/apis/apps/v1"],
  ["GET", "/API/v1/pods", "/API/v1/pods"],
  ["GET", "/livez?verbose", "/livez"],
  ["TRACE", "/version", "/version"],
];

const ambiguous: [target: string, read: Partial<ResourceRequest> | undefined][] = [
  ["/a/../../secrets", undefined],
  ["/version/..", undefined],
  ["//api//v1", undefined],
  ["/api/v1/%2e%2e/secrets", { resource: "..", name: "secrets" }],
  ["/api/v1/./pods", { resource: ".", name: "pods" }],
  ["/api/v1/namespaces/../pods", { namespace: "..", resource: "pods" }],
  ["/api/v1/namespaces/../pods/..", { namespace: "..", resource: "pods", name: ".." }],
  ["/api/v1/namespaces/a/pods/b%2flog", { resource: "pods", name: "b", subresource: "log" }],
  ["/api/v1%2Fsecrets", { resource: "secrets" }],
  ["/api//v1/pods", { group: "", version: "", resource: "v1", name: "pods" }],
];

const malformed = [
  "api",
  "http://other/api/v1/pods",
  "*",
  "/api/v1/a%5cb",
  "/api/v1/a\\b",
  "/api/v1/pods/%00",
  "/api/v1/pods/a b",
  "/api/v1/pods#x",
  "/api/v1/pods/%zz",
  "/api/v1/pods/%c0%ae",
  "/api/v1/pods/é",
  "",
];

describe("parseRequestInfo", () => {
  test.each(resources)("%s %s is a resource request", (method, target, expected) => {
    expect(parseRequestInfo(method, target)).toMatchObject({ kind: "resource", ...expected });
  });

  test.each(nonResources)("%s %s is a non-resource request", (method, target, path) => {
    expect(parseRequestInfo(method, target)).toMatchObject({ kind: "nonResource", verb: method.toLowerCase(), path });
  });

  test.each(malformed)("%p is answered with 400", (target) => {
    expect(codeOf(() => parseRequestInfo("GET", target))).toBe(400);
  });

  test.each(ambiguous)("%s is authorized as it is read, and not served", (target, read) => {
    const expected = read === undefined ? { kind: "nonResource" } : { kind: "resource", ...read };
    expect(parseRequestInfo("GET", target)).toMatchObject({ ...expected, isAmbiguous: true });
  });

  test.each(["OPTIONS", "TRACE", "CONNECT", "FOO", "get"])("method %s has no verb on a resource", (method) => {
    expect(parseRequestInfo(method, "/api/v1/pods")).toMatchObject({ kind: "resource", verb: "" });
  });

  test.each(["/api/v1/watch", "/apis/apps/v1/proxy/"])(
    "%s, which names no resource, is a 500 in upstream's words",
    (path) => {
      const why = `unable to determine kind and namespace from url, ${path}`;
      expect(() => parseRequestInfo("GET", path)).toThrow(
        new TextError(500, `Internal Server Error: "${path}": failed to create RequestInfo: ${why}\n`),
      );
    },
  );

  test("query parameters keep order and repetition, and their number is bounded", () => {
    const { query } = parseRequestInfo("GET", "/x?a=1&b+c=%2B&a=2&__proto__=p&e");
    expect([...query]).toEqual([
      ["a", ["1", "2"]],
      ["b c", ["+"]],
      ["__proto__", ["p"]],
      ["e", [""]],
    ]);
    const many = `/x?${"a&".repeat(maxQueryParameters)}a`;
    expect(codeOf(() => parseRequestInfo("GET", many))).toBe(400);
  });

  test("any target gives a value or a client error, and no two readings of one path", () => {
    const piece = fc.constantFrom(
      "api",
      "apis",
      "v1",
      "pods",
      "..",
      ".",
      "%2e",
      "%2F",
      "/",
      "//",
      "?",
      "watch",
      "=",
      "&",
      "%",
      "\\",
      "\0",
      "namespaces",
      "a",
      "fieldSelector",
      "metadata.name",
      ",",
      "é",
      "+",
    );
    const target = fc.oneof(
      fc.array(piece, { maxLength: 16 }).map((parts) => `/${parts.join("/")}`),
      fc.array(piece, { maxLength: 16 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.constantFrom("GET", "POST", "DELETE", "FOO"), target, (method, text) => {
        try {
          const info = parseRequestInfo(method, text);
          const segments = info.path.slice(1).split("/");
          const isNamed = info.kind === "resource" && info.nameInPath && info.name === "..";
          if (!info.isAmbiguous && !isNamed) expect(segments).not.toContain("..");
          if (info.kind === "resource") {
            for (const part of [info.group, info.version, info.resource, info.namespace, info.name, info.subresource]) {
              expect(part).not.toContain("/");
            }
            expect(segments).toContain(info.resource);
            if (info.nameInPath) expect(segments).toContain(info.name);
          }
        } catch (error) {
          if (!(error instanceof StatusError || error instanceof TextError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("time is linear in the length of the target", () => {
    const hostile = [
      `/${"a/".repeat(500_000)}`,
      `/x?${"&".repeat(1_000_000)}`,
      `/api/v1/pods?fieldSelector=metadata.name${"%5C%2C".repeat(150_000)}`,
    ];
    const start = cpuMs();
    for (const target of hostile) {
      try {
        parseRequestInfo("GET", target);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }
    expect(cpuMs() - start).toBeLessThan(1000);
  });
});

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError || error instanceof TextError) return error.code;
    throw error;
  }
  return 200;
}
