import { expect, test } from "bun:test";
import { authorityOf, dialErrorText, forwardedHeaders, returnedHeaders } from "./backend.ts";

test("forwardedHeaders() keeps what is the client's business with the backend, and nothing else", () => {
  const kept = [
    ["accept", "a"],
    ["accept", "b"],
    ["sec-websocket-key", "k"],
    ["x-stream-protocol-version", "v4.channel.k8s.io"],
  ] as const;
  const withheld = [
    "authorization",
    "cookie",
    "connection",
    "content-length",
    "host",
    "impersonate-user",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-remote-user",
    "x-remote-extra-scopes",
  ].map((name) => [name, "x"] as const);
  expect(forwardedHeaders([...kept, ...withheld])).toEqual(kept.map(([name, value]) => [name, value]));
});

test("forwardedHeaders() takes a token out of the subprotocols", () => {
  const protocols = "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io";
  expect(forwardedHeaders([["sec-websocket-protocol", protocols]])).toEqual([
    ["sec-websocket-protocol", "v4.channel.k8s.io, v5.channel.k8s.io"],
  ]);
});

test("returnedHeaders() leaves out what belongs to the connection with the backend", () => {
  const headers = [
    ["content-type", "a"],
    ["set-cookie", "b"],
    ["set-cookie", "c"],
    ["connection", "close"],
    ["transfer-encoding", "chunked"],
  ] as const;
  expect(returnedHeaders(headers).map(([, value]) => value)).toEqual(["a", "b", "c"]);
});

test.each([
  ["10.0.0.1", "10.0.0.1:80"],
  ["fd00::1", "[fd00::1]:80"],
  ["node.example", "node.example:80"],
])("authorityOf() %s is %s", (host, text) => {
  expect(authorityOf({ host, port: 80 })).toBe(text);
});

test.each([
  ["ECONNREFUSED", "dial tcp 10.0.0.1:80: connect: connection refused"],
  ["ETIMEDOUT", "dial tcp 10.0.0.1:80: i/o timeout"],
  ["EHOSTUNREACH", "dial tcp 10.0.0.1:80: connect: no route to host"],
  ["ENOTFOUND", "dial tcp: lookup 10.0.0.1: no such host"],
  ["EOTHER", "dial tcp 10.0.0.1:80: boom"],
])("dialErrorText() says %s as Go does", (code, text) => {
  expect(dialErrorText(Object.assign(new Error("boom"), { code }), { host: "10.0.0.1", port: 80 })).toBe(text);
});
