import { expect, spyOn, test } from "bun:test";
import { isError, type Result } from "../../cel/index.ts";
import { atOnce } from "../../process/sliced.ts";
import { PolicyCompiler } from "../policies/compile-policy.ts";
import { attributes } from "../testing.ts";
import { AccessChecks, evaluateInTurns } from "./access-checks.ts";
import { Evaluation, evaluationCostMax, OutOfBudget } from "./evaluation.ts";
import { evaluateMatchConditions } from "./match-conditions.ts";
import { RequestValues } from "./request-values.ts";

const request = attributes("/configmaps", { object: { metadata: { name: "x" }, data: { a: "1" } } });

function valuesOf(checks = checksOf(() => ({ kind: "allow", reason: "" }))): RequestValues {
  return new RequestValues({
    attributes: request,
    matched: { info: request.info, kind: request.kind },
    object: request.object,
    oldObject: undefined,
    namespaceObject: undefined,
    checks,
  });
}

function checksOf(authorize: ConstructorParameters<typeof AccessChecks>[0]["authorize"]): AccessChecks {
  return new AccessChecks({ authorize }, request.user);
}

function run(text: string, variables: Readonly<Record<string, string>> = {}, budget = evaluationCostMax): Result {
  const compiler = new PolicyCompiler(false);
  atOnce(compiler.addVariables(Object.entries(variables).map(([name, expression]) => ({ name, expression }))));
  const expression = atOnce(compiler.compile(text, "variable", { hasAuthorizer: true }));
  const evaluation = new Evaluation(valuesOf(), { variables: compiler.variables, budget });
  return atOnce(evaluation.run(expression));
}

const messageOf = (result: Result) => (isError(result) ? result.message : undefined);

test("variables may use earlier ones", () => {
  expect(run("variables.b", { a: "object.data.a", b: "variables.a + '2'" })).toBe("12");
});

test.each<[text: string, variables: Record<string, string>, message: string]>([
  ["object.none", {}, "expression 'object.none' resulted in error: no such key: none"],
  ["1 +", {}, "compilation error: compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'"],
  ["variables.a", { a: "object.none" }, 'composited variable "a" fails to evaluate: no such key: none'],
  ["variables.a", { a: "nothing" }, 'composited variable "a" fails to compile: compilation failed:'],
])("%s with %j fails", (text, variables, message) => {
  expect(messageOf(run(text, variables))).toContain(message);
});

test("variables count against the budget of the expression that uses them", () => {
  const list = { long: `[${"1,".repeat(50)}1].map(x, x)` };
  expect(isError(run("size(variables.long)", list, 1_000))).toBe(false);
  expect(() => run("size(variables.long)", list, 100)).toThrow(OutOfBudget);
});

test.each<[conditions: string[], outcome: object]>([
  [["true"], { kind: "match" }],
  [["object.none == 1", "false"], { kind: "noMatch", condition: "c1" }],
  [
    ["object.none == 1", "true"],
    { kind: "failed", message: "expression 'object.none == 1' resulted in error: no such key: none" },
  ],
  [
    ["object.a == 1", "object.b == 1"],
    {
      kind: "failed",
      message:
        "[expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in error: no such key: b]",
    },
  ],
])("the conditions %j", (texts, outcome) => {
  const conditions = atOnce(
    new PolicyCompiler(false).conditions(texts.map((expression, at) => ({ name: `c${at}`, expression }))),
  );
  expect(atOnce(evaluateMatchConditions(conditions, valuesOf()))).toEqual(outcome as never);
});

test("an evaluation pauses in a variable, and counts its cost once", () => {
  const variables = { pairs: "lists.range(200).map(x, lists.range(200).filter(y, y > x).size()).sum()" };
  const text = "lists.range(3).map(x, x + variables.pairs).sum() + lists.range(100).map(x, x).size()";
  const compiler = new PolicyCompiler(false);
  atOnce(compiler.addVariables(Object.entries(variables).map(([name, expression]) => ({ name, expression }))));
  const expression = atOnce(compiler.compile(text, "variable", {}));
  const evaluate = () => {
    const evaluation = new Evaluation(valuesOf(), { variables: compiler.variables, budget: evaluationCostMax });
    const steps = evaluation.run(expression);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses++;
    return { result: step.value, budget: evaluation.budget, pauses };
  };
  const unpaused = { ...evaluate(), pauses: 0 };
  let nowMs = 0;
  using _clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 100));
  const { pauses, ...paused } = evaluate();
  expect<unknown>({ ...paused, pauses: 0 }).toEqual(unpaused);
  expect(pauses).toBeGreaterThan(100);
});

test("an evaluation waits for the authorizer, and asks each question once", async () => {
  const asked: string[] = [];
  const checks = checksOf(async (_, attributes) => {
    asked.push(attributes.verb);
    if (attributes.verb === "fail") throw new Error("down");
    return { kind: attributes.verb === "get" ? "allow" : "deny", reason: "because" };
  });
  const text =
    "[authorizer.requestResource.check('get').allowed(), authorizer.path('/x').check('list').allowed(), authorizer.requestResource.check('fail').errored(), authorizer.requestResource.check('get').allowed()]";
  const expression = atOnce(new PolicyCompiler(false).compile(text, "variable", { hasAuthorizer: true }));
  const evaluate = () => new Evaluation(valuesOf(checks), { budget: evaluationCostMax }).run(expression);
  // Three checks cost more than one evaluation may.
  expect(messageOf(await evaluateInTurns(checks, evaluate))).toContain("actual cost limit exceeded");
  expect(asked).toEqual(["get", "list", "fail"]);
});

test("users of one name with other groups, uids or extras get answers of their own", () => {
  const asked: unknown[] = [];
  const checks = checksOf((user) => {
    asked.push([user.uid, user.groups]);
    return { kind: user.groups.includes("admins") ? "allow" : "deny", reason: "" };
  });
  const question = { kind: "path", verb: "get", path: "/" } as const;
  const ask = (groups: readonly string[]) =>
    checks.check({ ...question, user: { ...request.user, groups } } as never)?.isAllowed;
  expect([ask(["admins"]), ask(["others"]), ask(["admins"])]).toEqual([true, false, true]);
  expect(asked.length).toBe(2);
});
