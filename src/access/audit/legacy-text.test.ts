import { expect, test } from "bun:test";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import { legacyText } from "./legacy-text.ts";
import { testEvent, testRequest } from "./testing.ts";

const nobody = { uid: "", groups: [], extra: new Map() };

test("a line in upstream's words", () => {
  expect(legacyText(testEvent())).toBe(
    '1970-01-01T00:00:01Z AUDIT: id="id-1" stage="ResponseComplete" ip="10.0.0.1" method="get" user="u" groups="\\"g\\"" as="<self>" asgroups="<lookup>" user-agent="x/1" namespace="ns" uri="/api/v1/namespaces/ns/pods/p" response="200"',
  );
});

test.each([
  [
    "who is somebody else",
    { impersonatedUser: { ...nobody, name: "o", groups: ["a", "b"] } },
    'as="o" asgroups="\\"a\\",\\"b\\""',
  ],
  ["who did not authenticate", { user: undefined }, 'user="<none>" groups="<none>"'],
  ["who is in no group", { user: { ...nobody, name: "u" } }, 'user="u" groups="<none>"'],
  ["what has no answer yet", { responseStatus: undefined }, 'response="<deferred>"'],
  ["what is no resource", { info: parseRequestInfo("GET", "/version") }, 'namespace="<none>"'],
  ["when, without zeros at the end", { receivedMs: 1_230 }, "1970-01-01T00:00:01.23Z AUDIT:"],
  [
    "what cannot be printed",
    { user: { ...nobody, name: 'a"\\\n\u0000\u001b\u2028\u{e0001}é 1' } },
    'user="a\\"\\\\\\n\\x00\\x1b\\u2028\\U000e0001é 1"',
  ],
])("%s", (_, more, text) => expect(legacyText(testEvent(more))).toContain(text));

test("attack 72: no text of a client breaks the line", () => {
  const request = testRequest([["user-agent", "a\nb\r\u2028\u001b[31m"]], "/x\ny");
  expect(legacyText(testEvent({ request }))).toMatch(/^[\x20-\x7e]+$/);
});
