import { expect, test } from "bun:test";
import { atOnce } from "../../process/sliced.ts";
import {
  makeRuleValidator,
  RuleChecker,
  type RuleSchema,
  rootPlace,
  runRules,
  storedEnvironment,
  toFieldError,
} from "../index.ts";

const environments = { environmentOf: () => storedEnvironment() };

function widget(spec: Readonly<Record<string, RuleSchema>>): RuleSchema {
  return { type: "object", properties: { spec: { type: "object", properties: spec } } };
}

function problems(schema: RuleSchema, object: object, oldObject?: object) {
  const validator = makeRuleValidator(schema, environments);
  if (validator === undefined) throw new Error("no rules");
  const { errors, warnings } = atOnce(runRules(validator, object as never, oldObject as never));
  const texts = (found: typeof errors) => found.map(toFieldError).map(({ field, message }) => `${field}: ${message}`);
  return { errors: texts(errors), warnings: texts(warnings) };
}

function checkProblems(schema: RuleSchema) {
  return atOnce(new RuleChecker(environments).checkNode(schema, rootPlace("schema"), { isResource: false }));
}

const size: RuleSchema = { type: "integer", "x-kubernetes-validations": [{ rule: "self < 5", message: "too large" }] };

test("a rule that does not hold is an error at its node", () => {
  expect(problems(widget({ size }), { spec: { size: 7 } }).errors).toEqual(["spec.size: Invalid value: 7: too large"]);
});

test("a value that an update leaves as it was gets a warning", () => {
  const { errors, warnings } = problems(widget({ size }), { spec: { size: 7 } }, { spec: { size: 7 } });
  expect(errors).toEqual([]);
  expect(warnings).toEqual(["spec.size: Invalid value: 7: too large"]);
});

test("a rule about the old value runs where an old value exists", () => {
  const grows: RuleSchema = { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] };
  expect(problems(widget({ grows }), { spec: { grows: 1 } }).errors).toEqual([]);
  const { errors } = problems(widget({ grows }), { spec: { grows: 1 } }, { spec: { grows: 2 } });
  expect(errors).toEqual(["spec.grows: Invalid value: 1: failed rule: self >= oldSelf"]);
});

test("lists of sets compare without their order", () => {
  const set: RuleSchema = {
    type: "array",
    items: { type: "string" },
    "x-kubernetes-list-type": "set",
    "x-kubernetes-validations": [{ rule: "self == oldSelf" }],
  };
  expect(problems(widget({ set }), { spec: { set: ["a", "b"] } }, { spec: { set: ["b", "a"] } }).errors).toEqual([]);
});

test("two runs at the same time compile the rules once", () => {
  let compilations = 0;
  const validator = makeRuleValidator(widget({ a: size }), { ...environments, compiled: () => void compilations++ });
  if (validator === undefined) throw new Error("no rules");
  const [first, second] = [
    runRules(validator, { spec: { a: 1 } }, undefined),
    runRules(validator, { spec: { a: 6 } }, undefined),
  ];
  first.next();
  second.next();
  expect([second, first].map((run) => atOnce(run).errors.length)).toEqual([1, 0]);
  expect(compilations).toBe(1);
});

test("rules can be compiled and run one at a time", () => {
  const validator = makeRuleValidator(widget({ a: size, b: size }), environments);
  if (validator === undefined) throw new Error("no rules");
  // The first run compiles the rules, and yields between the phases.
  expect([...runRules(validator, { spec: { a: 1, b: 2 } }, undefined)].length).toBeGreaterThan(6);
  expect([...runRules(validator, { spec: { a: 1, b: 2 } }, undefined)]).toHaveLength(2);
});

test("a rule that may cost too much is refused when it is written", () => {
  const list: RuleSchema = {
    type: "array",
    items: { type: "string" },
    "x-kubernetes-validations": [{ rule: "self.all(x, self.exists(y, x == y))" }],
  };
  const [problem] = checkProblems(list);
  expect(problem?.detail).toStartWith("estimated rule cost exceeds budget by factor of more than 100x");
});

test("a rule that does not compile is reported with its text", () => {
  const bad: RuleSchema = { type: "string", "x-kubernetes-validations": [{ rule: "self + 1" }] };
  const [problem] = checkProblems(bad);
  expect(problem?.field).toBe("schema.x-kubernetes-validations[0].rule");
  expect(problem?.detail).toContain("found no matching overload for '_+_' applied to '(string, int)'");
});
