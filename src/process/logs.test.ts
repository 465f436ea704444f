import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openLog, type RequestRecord } from "./logs.ts";

const canary = "canary-4711";
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl";
const record: RequestRecord = {
  auditId: "a",
  method: "GET",
  verb: "list",
  path: "/api/v1/pods",
  resource: "pods",
  namespace: "",
  name: "",
  user: "me",
  userAgent: "curl",
  remoteAddress: "127.0.0.1",
  httpVersion: "2",
  code: 200,
  latencyMs: 3,
};

function recordingLog({ verbosity = 10, pretty = false } = {}) {
  const lines: string[] = [];
  const log = openLog({ verbosity, pretty, destination: { write: (line) => void lines.push(line) } });
  return { log, lines };
}

describe.each([false, true])("with pretty=%p", (pretty) => {
  test.each([
    ["an Authorization header", { headers: { Authorization: `Bearer ${canary}` } }],
    ["a header list", { headers: [["authorization", `Bearer ${canary}`]] }],
    ["a token field", { token: canary }],
    ["a token in a map", { map: new Map([["client-key-data", canary]]) }],
    ["secret data", { object: { kind: "Secret", data: { password: canary }, stringData: { x: canary } } }],
    ["a request body as bytes", { request: { chunk: new TextEncoder().encode(canary) } }],
    [
      "an error that quotes a header",
      { error: new Error(`bad header: Bearer ${canary}`, { cause: new Error(`basic ${canary}`) }) },
    ],
    ["a token in a query", { uri: `/api?x=1&token=${canary}&y=2` }],
    ["a private key", { text: `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----` }],
    ["a WebSocket protocol", { protocol: `base64url.bearer.authorization.k8s.io.${canary}` }],
  ])("%s never appears", async (_, fields) => {
    const { log, lines } = recordingLog({ pretty });
    log.error("something failed", fields as Record<string, unknown>);
    expect(lines.join("")).toContain("something failed");
    const bare = canary.replace("-", "");
    expect(lines.join("")).not.toContain(canary);
    expect(lines.join("")).not.toContain(bare);
  });

  test.each([jwt, "abcdef.0123456789abcdef"])("the token %s is known by its form", async (token) => {
    const { log, lines } = recordingLog({ pretty });
    log.warn(`refused ${token}`, { why: `because of ${token}.` });
    expect(lines.join("")).not.toContain(token);
  });

  test("nothing that a client sends starts a new line or reaches the terminal as a control", async () => {
    const { log, lines } = recordingLog({ pretty });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 20 }), async (text) => {
        lines.length = 0;
        const hostile = `${text}\n{"level":"error"}\r\u001b[2J\u2028`;
        log.requestLog({ ...record, failed: false, longRunning: false }, () => ({
          ...record,
          userAgent: hostile,
          path: hostile,
        }));
        log.info("note", { [hostile]: hostile, list: [hostile] });
        for (const line of lines) {
          expect(line.endsWith("\n")).toBe(true);
          expect(line.slice(0, -1)).not.toMatch(pretty ? /[\p{Cc}\u2028]/u : /[\n\r]|\p{Cc}\[/u);
        }
        expect(lines).toHaveLength(2);
      }),
      { numRuns: 200 },
    );
  });
});

describe("verbosity", () => {
  test.each([
    [0, ["error", "warn"]],
    [1, ["error", "warn", "info"]],
    [4, ["error", "warn", "info", "debug"]],
    [6, ["error", "warn", "info", "debug", "trace"]],
  ])("-v=%d writes %p", async (verbosity, levels) => {
    const { log, lines } = recordingLog({ verbosity });
    for (const level of ["error", "warn", "info", "debug", "trace"] as const) log[level]("line");
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(levels);
  });

  test.each([
    ["a good request at -v=1", 1, {}, []],
    ["a good request at -v=2", 2, {}, ["request"]],
    ["a failure of ours at -v=0", 0, { code: 500, failed: true }, ["request failed"]],
    ["a mistake of the client that is a 500 at -v=0", 0, { code: 500 }, []],
    ["an overload or time-out at -v=0", 0, { code: 504 }, []],
    ["a refusal at -v=0", 0, { code: 403 }, []],
    ["a slow request at -v=0", 0, { latencyMs: 6_000 }, ["slow request"]],
    ["a long watch at -v=0", 0, { latencyMs: 600_000, longRunning: true }, []],
  ])("%s", async (_, verbosity, change, messages) => {
    const { log, lines } = recordingLog({ verbosity });
    const finished = { ...record, failed: false, longRunning: false, ...change };
    log.requestLog(finished, () => finished);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(messages);
  });

  test("every line names its time, and its part where it has one", async () => {
    const { log, lines } = recordingLog();
    log.for("storage").info("open", { revision: 7n });
    const line = JSON.parse(lines[0] ?? "");
    expect(line).toMatchObject({ level: "info", part: "storage", msg: "open", revision: "7" });
    expect(Date.parse(line.time)).toBeGreaterThan(0);
  });
});

test("deep, long and circular values are cut", async () => {
  const { log, lines } = recordingLog();
  const circle: Record<string, unknown> = { name: "x".repeat(10_000), many: Array.from({ length: 1_000 }, () => 1) };
  circle.self = circle;
  log.info("circle", circle);
  expect(lines[0]?.length).toBeLessThan(60_000);
  expect(JSON.parse(lines[0] ?? "").many).toHaveLength(50);
});
