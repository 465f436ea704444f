import { expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../test/cpu-time.ts";
import {
  type LabelSelector,
  labelRequirementsMax,
  labelSelectorText,
  labelSelectorValuesMax,
  matchesLabels,
  parseLabelSelector,
  requireLabelValue,
} from "./label-selector.ts";
import { StatusError } from "./status.ts";

const labels = { app: "web", tier: "front", level: "7", empty: "", "example.com/role": "db" };

test.each([
  ["", true],
  ["app=web", true],
  ["app==web", true],
  ["app=other", false],
  ["app!=other", true],
  ["app!=web", false],
  ["missing!=x", true],
  ["app in (api,web)", true],
  ["app in (api)", false],
  ["app in()", false],
  ["empty in ()", true],
  ["empty=", true],
  ["empty in (,a)", true],
  ["missing in ()", false],
  ["missing notin (a)", true],
  ["app notin (api)", true],
  ["app notin (api,web)", false],
  ["app", true],
  ["missing", false],
  ["!missing", true],
  ["! app", false],
  ["level>6", true],
  ["level>7", false],
  ["level < 8", true],
  ["app>1", false],
  ["missing<1", false],
  ["level>9223372036854775807", false],
  ["example.com/role=db", true],
  ["app=web,tier=front", true],
  ["app=web , tier=back", false],
  ["toString", false],
  ["constructor!=x", true],
  ["in", false],
  ["notin in (in,notin)", false],
])("selector %p on the sample labels selects: %p", (text, selected) => {
  expect(matchesLabels(parseLabelSelector(text), labels)).toBe(selected);
});

test.each([
  ["x in a", "unable to parse requirement: found 'a' expected: '('"],
  ["x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ["x in (a,", "unable to parse requirement: found '', expected: ',', or identifier"],
  ["x in (a", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["x=a b", "found 'b', expected: ',' or 'end of string'"],
  ["x,", "found '', expected: identifier after ','"],
  ["=x", "found '=', expected: !, identifier, or 'end of string'"],
  ["x=(", "unable to parse requirement: found '(', expected: identifier"],
  ["x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
  [
    "x>a",
    `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  ["/x", 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty'],
])("selector %p is refused with %p", (text, message) => {
  expect(() => parseLabelSelector(text)).toThrow(message);
});

test.each([
  ["-a=b"],
  ["a=b-"],
  ["a=-1"],
  ["a>-1"],
  ["UP.er/x"],
  ["a/b/c"],
  [`${"a".repeat(64)}`],
  [`a=${"b".repeat(64)}`],
])("selector %p breaks the label syntax", (text) => {
  expect(() => parseLabelSelector(text)).toThrow("unable to parse requirement: ");
});

test("more requirements or values than the bounds are refused quickly", () => {
  const started = cpuMs();
  const many = "a=b,".repeat(100_000);
  expect(() => parseLabelSelector(`${many}a`)).toThrow(`at most ${labelRequirementsMax}`);
  expect(() => parseLabelSelector(`a in (${"b,".repeat(1_000_000)}b)`)).toThrow(`at most ${labelSelectorValuesMax}`);
  expect(() => parseLabelSelector("(".repeat(1_000_000))).toThrow(StatusError);
  expect(cpuMs() - started).toBeLessThan(500);
});

test("a pinned label is known", () => {
  expect(requireLabelValue(parseLabelSelector("a in (x),b in (y,z)"), "a")).toBe("x");
  expect(requireLabelValue(parseLabelSelector("a in (x),b in (y,z)"), "b")).toBeUndefined();
});

const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9_.]{0,6}[a-z0-9])?$/);
const requirement = fc.oneof(
  fc.record({ key: word, operator: fc.constantFrom("exists" as const, "!" as const), values: fc.constant([]) }),
  fc.record({
    key: word,
    operator: fc.constantFrom("=" as const, "==" as const, "!=" as const),
    values: fc.tuple(word),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom("in" as const, "notin" as const),
    values: fc.uniqueArray(fc.oneof(word, fc.constant("")), { minLength: 1, maxLength: 5 }).map((all) => all.sort()),
  }),
  fc.record({
    key: word,
    operator: fc.constantFrom("gt" as const, "lt" as const),
    values: fc.tuple(fc.nat().map(String)),
  }),
);

test("the text of a selector parses to the same selector", () => {
  fc.assert(
    fc.property(fc.uniqueArray(requirement, { selector: ({ key }) => key, maxLength: 6 }), (requirements) => {
      requirements.sort((a, b) => (a.key < b.key ? -1 : 1));
      const selector: LabelSelector = { requirements };
      expect(parseLabelSelector(labelSelectorText(selector))).toEqual(selector);
    }),
  );
});

test("any text parses or is refused with a 400", () => {
  const fragment = fc.constantFrom("a", "in", "notin", "(", ")", ",", "=", "!", ">", "<", " ", "5", "/", "-");
  const text = fc.oneof(
    fc.string(),
    fc.array(fragment, { maxLength: 12 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, (source) => {
      try {
        const selector = parseLabelSelector(source);
        expect(parseLabelSelector(labelSelectorText(selector))).toEqual(selector);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        expect(error.code).toBe(400);
      }
    }),
    { numRuns: 1_000 },
  );
});
