import { describe, expect, test } from "bun:test";
import type { HeaderList } from "../../request/exchange.ts";
import { checkHead } from "./check-head.ts";

const host: HeaderList = [["host", "a"]];

function code(fields: { method?: string; rawPath?: string; headers?: HeaderList; httpVersion?: "1.1" | "2" }): number {
  try {
    checkHead({
      method: "GET",
      rawPath: "/",
      headers: host,
      httpVersion: "2",
      peer: { kind: "none" },
      remoteAddress: "",
      ...fields,
    });
  } catch (error) {
    return (error as { code: number }).code;
  }
  return 200;
}

describe("checkHead", () => {
  test.each<[string, Parameters<typeof code>[0], number]>([
    ["a plain request", {}, 200],
    ["HTTP/2 without an authority", { headers: [] }, 200],
    ["HTTP/1.1 without a host", { headers: [], httpVersion: "1.1" }, 400],
    ["two hosts", { headers: [...host, ...host] }, 400],
    ["an IPv6 address and a port", { headers: [["host", "[::1]:6443"]] }, 200],
    ["a host with a user", { headers: [["host", "a@b"]] }, 400],
    ["two Authorization headers", { headers: [...host, ["authorization", "a"], ["authorization", "a"]] }, 400],
    ["chunked", { headers: [...host, ["transfer-encoding", "Chunked"]] }, 200],
    ["gzip, chunked", { headers: [...host, ["transfer-encoding", "gzip, chunked"]] }, 400],
    ["TRACE", { method: "TRACE" }, 405],
    ["CONNECT without a path", { method: "CONNECT", rawPath: "" }, 405],
    ["a lower-case method", { method: "get" }, 405],
    ["an absolute target", { rawPath: "http://other/" }, 400],
    ["an empty target", { rawPath: "" }, 400],
  ])("%s", (_name, fields, expected) => {
    expect(code(fields)).toBe(expected);
  });
});
