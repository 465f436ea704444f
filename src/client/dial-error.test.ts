import { expect, test } from "bun:test";
import { authorityOf, dialErrorText } from "./dial-error.ts";

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
  ["ERR_SSL_WRONG_VERSION_NUMBER", "http: server gave HTTP response to HTTPS client"],
  ["EOTHER", "dial tcp 10.0.0.1:80: boom"],
])("dialErrorText() says %s as Go does", (code, text) => {
  expect(dialErrorText(Object.assign(new Error("boom"), { code }), { host: "10.0.0.1", port: 80 })).toBe(text);
});
