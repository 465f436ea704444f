import { expect, test } from "bun:test";
import { forwardedHeaders, returnedHeaders } from "./backend.ts";

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
