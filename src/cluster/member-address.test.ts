import { describe, expect, test } from "bun:test";
import { hostOf, parseClientUrl, parseMemberName, parsePeerAddress } from "./member-address.ts";

describe("a peer address", () => {
  test.each([
    ["10.0.0.1:7380", "10.0.0.1", 7380],
    ["[fd00::1]:7380", "fd00::1", 7380],
    ["a.example:1", "a.example", 1],
    ["node-1:65535", "node-1", 65_535],
  ])("%s is parsed", (text, host, port) => {
    expect(parsePeerAddress(text)).toEqual({ host, port });
  });

  test.each([
    ["", "is not <host>:<port>"],
    ["10.0.0.1", "is not <host>:<port>"],
    [":7380", "is not <host>:<port>"],
    ["fd00::1:7380", "is not <host>:<port>"],
    ["[10.0.0.1]:7380", "is not <host>:<port>"],
    ["10.0.0.256:7380", "is not <host>:<port>"],
    ["-a:7380", "is not <host>:<port>"],
    ["https://a:7380", "is not <host>:<port>"],
    ["a:7380/x", "is not <host>:<port>"],
    ["a b:7380", "is not <host>:<port>"],
    ["a:0", "has no port from 1 to 65535"],
    ["a:70000", "has no port from 1 to 65535"],
    ["0.0.0.0:7380", "others cannot connect to 0.0.0.0"],
    ["[::]:7380", "others cannot connect to ::"],
  ])("%s is rejected: %s", (text, message) => {
    expect(() => parsePeerAddress(text)).toThrow(message);
  });
});

describe("the URL of an API", () => {
  test.each([
    ["https://10.0.0.1:6443", "https://10.0.0.1:6443", "10.0.0.1"],
    ["https://10.0.0.1:6443/", "https://10.0.0.1:6443", "10.0.0.1"],
    ["https://[fd00::1]:6443", "https://[fd00::1]:6443", "fd00::1"],
    ["HTTPS://A.example", "https://a.example", "a.example"],
  ])("%s is %s", (text, url, host) => {
    expect(parseClientUrl(text)).toBe(url);
    expect(hostOf(url)).toBe(host);
  });

  test.each([
    ["", "is not https://<host>:<port>"],
    ["http://a:6443", "is not https://<host>:<port>"],
    ["https://a:6443/path", "is not https://<host>:<port>"],
    ["https://a:6443?x", "is not https://<host>:<port>"],
    ["https://user@a:6443", "is not https://<host>:<port>"],
    ["https://a:99999", "is not https://<host>:<port>"],
    ["a:6443", "is not https://<host>:<port>"],
    ["https://0.0.0.0:6443", "others cannot connect to 0.0.0.0:6443"],
  ])("%s is rejected", (text, message) => {
    expect(() => parseClientUrl(text)).toThrow(message);
  });
});

test.each(["a", "node-1", "a.example", "x".repeat(63)])("%s is a member's name", (name) => {
  expect(parseMemberName(name)).toBe(name);
});

test.each(["", "A", "-a", "a-", "a b", "a/b", "x".repeat(64), "é"])("%p is not a member's name", (name) => {
  expect(() => parseMemberName(name)).toThrow("is not a name of at most 63");
});
