import { expect, test } from "bun:test";
import type { HeaderList, IncomingRequest } from "../../request/exchange.ts";
import { answeredHeaders, declaredLength, isReturned, proxiedHeaders } from "./proxied-headers.ts";

const requestWith = (headers: HeaderList) =>
  ({ headers, rawPath: "/apis/g/v1/a?b=c", remoteAddress: "10.1.1.1" }) as unknown as IncomingRequest;
const options = { auditId: "id", via: "server-1" };

test("proxiedHeaders() says where a request comes from, behind those who said so before", () => {
  const before = [
    ["x-forwarded-for", "10.2.2.2"],
    ["via", "1.1 other"],
    ["audit-id", "theirs"],
    ["x-forwarded-uri", "/theirs"],
    ["cookie", "a=b"],
  ] as const;
  const first = [
    ["cookie", "a=b"],
    ["x-forwarded-for", "10.2.2.2, 10.1.1.1"],
  ];
  const last = [
    ["audit-id", "id"],
    ["via", "1.1 other, 1.1 server-1"],
  ];
  expect(proxiedHeaders(requestWith(before), options)).toEqual([...first, ...last] as never);
  expect(proxiedHeaders(requestWith(before), { ...options, host: "10.0.0.1:443" })).toEqual([
    ...first,
    ["x-forwarded-host", "10.0.0.1:443"],
    ["x-forwarded-proto", "https"],
    ["x-forwarded-uri", "/apis/g/v1/a"],
    ...last,
  ] as never);
});

test.each(["authorization", "connection", "host", "impersonate-user", "te", "upgrade", "x-mine"])(
  "proxiedHeaders() keeps %s to this connection",
  (name) => {
    const headers = proxiedHeaders(
      requestWith([
        [name, "x"],
        ["connection", "close, X-Mine"],
      ]),
      options,
    );
    expect(headers.map(([key]) => key)).not.toContain(name);
  },
);

test.each([
  [["1.1 server-1"], true],
  [["1.1 a, 1.1 server-1"], true],
  [["1.1 a", "1.1 server-1"], true],
  [["1.1 server-12"], false],
  [[], false],
])("isReturned() reads Via: %j", (values, expected) => {
  expect(isReturned(requestWith(values.map((value) => ["via", value] as const)), "server-1")).toBe(expected);
});

test("answeredHeaders() leaves out what only this server may say", () => {
  const kept: [string, string][] = [
    ["content-type", "a"],
    ["x-kubernetes-pf-flowschema-uid", "b"],
  ];
  const dropped: [string, string][] = [
    ["audit-id", "theirs"],
    ["access-control-allow-origin", "*"],
    ["connection", "close"],
    ["transfer-encoding", "chunked"],
  ];
  expect(answeredHeaders([...kept, ...dropped])).toEqual(kept);
});

test("declaredLength() is that of the client", () => {
  expect(declaredLength(requestWith([["content-length", "3"]]))).toEqual([["content-length", "3"]]);
  expect(declaredLength(requestWith([]))).toEqual([]);
});
