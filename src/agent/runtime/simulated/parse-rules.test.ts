import { describe, expect, test } from "bun:test";
import type { Pod } from "../../../api/types/core-v1.ts";
import { runsOn } from "./behaviour.ts";
import { planContainer, stepsAnnotation } from "./container-plan.ts";
import { parseRules, parseSteps } from "./parse-rules.ts";
import { imageRule, noRules, stepsByRule } from "./rules.ts";
import { seededRandom } from "./seeded-random.ts";

const parse = (text: string) => parseRules(new TextEncoder().encode(text));
const container = { name: "main", image: "docker.io/team/web:1" };
const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: {
    name: "web-1",
    namespace: "shop",
    labels: { app: "web", tier: "front" },
    annotations: { team: "a" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true }],
  },
};

describe("a rule", () => {
  test.each([
    ["namespaces: [shop, other]", true],
    ["namespaces: [other]", false],
    ['labels: "app in (web),tier"', true],
    ["labels: app!=web", false],
    ["annotations: {team: a}", true],
    ["annotations: {team: b}", false],
    ["owners: [ReplicaSet]", true],
    ['owners: [""]', false],
    ["containers: [main]", true],
    ["containers: [side]", false],
    ['images: ["*/team/*"]', true],
    ['images: ["docker.io/team/web:1"]', true],
    ['images: ["*:2", "web"]', false],
    ['images: ["docker.io/*/web*web:1"]', false],
  ])("with %s decides: %p", (match, decides) => {
    const rules = parse(`rules: [{match: {${match}}, exit: {code: 3}}]`);
    expect(stepsByRule(rules, pod, container, () => 0).exit !== undefined).toBe(decides);
  });

  test("that comes first decides", () => {
    const rules = parse("rules: [{name: first, exit: never}, {exit: {after: 1s}}]");
    expect(stepsByRule(rules, pod, container, () => 0)).toEqual({ exit: "never" });
  });

  test("draws one of its choices by weight", () => {
    const rules = parse("rules: [{choices: [{weight: 3, exit: {code: 1}}, {exit: never}]}]");
    const random = seededRandom(7);
    const drawn = Array.from({ length: 4_000 }, () => stepsByRule(rules, pod, container, random).exit);
    const share = drawn.filter((exit) => exit === "never").length / drawn.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });

  test("has all steps", () => {
    const text = `
start: {after: 1s, jitter: 500ms, failureRate: 0.5}
startup: {after: 2s}
ready: never
unhealthy: {after: 1m}
exit: {after: 0s, code: 2, failureRate: 1, failureCode: 137, reason: OOMKilled, message: gone}
stop: {after: 3s, code: 143}
logs: [one, two]`;
    expect(parseSteps(text)).toEqual({
      start: { afterMs: 1_000, jitterMs: 500, failureRate: 0.5, message: "the simulation made it fail" },
      startup: { afterMs: 2_000, jitterMs: 0 },
      ready: "never",
      unhealthy: { afterMs: 60_000, jitterMs: 0 },
      exit: {
        afterMs: 0,
        jitterMs: 0,
        code: 2,
        failureRate: 1,
        failureCode: 137,
        reason: "OOMKilled",
        message: "gone",
      },
      stop: { afterMs: 3_000, jitterMs: 0, code: 143 },
      logs: ["one", "two"],
    });
  });

  test("of images has a pattern", () => {
    const rules = parse('images: [{names: ["broken*"], after: 1s, failureRate: 1, message: gone}]');
    expect(imageRule(rules, "broken:1")).toMatchObject({ failureRate: 1, message: "gone" });
    expect(imageRule(rules, "nginx")).toMatchObject({ failureRate: 0 });
    expect(imageRule(noRules, "invalid.registry.example/a:1")).toMatchObject({ failureRate: 1 });
  });
});

test.each([
  ["[]", "the file does not contain an object"],
  ["rules: 1", "rules: Invalid value: 1: must be a list"],
  ["rules: [1]", "rules[0]: Invalid value: 1: must be an object"],
  ["rule: []", "rule: Invalid value: unknown field"],
  ["rules: [{exit: {after: soon}}]", 'rules[0].exit.after: Invalid value: "soon": must be a duration such as 1.5s'],
  ["rules: [{exit: {after: -1s}}]", 'rules[0].exit.after: Invalid value: "-1s": must be a duration such as 1.5s'],
  ["rules: [{exit: {code: 256}}]", "rules[0].exit.code: Invalid value: 256: must be a number from 0 to 255"],
  ["rules: [{exit: {code: 1.5}}]", "rules[0].exit.code: Invalid value: 1.5: must be an integer"],
  ["rules: [{start: {failureRate: 2}}]", "rules[0].start.failureRate: Invalid value: 2: must be a number from 0 to 1"],
  ["rules: [{ready: soon}]", 'rules[0].ready: Invalid value: "soon": must be an object'],
  ["rules: [{match: {labels: '='}}]", "rules[0].match.labels"],
  ["rules: [{match: {annotations: {a: 1}}}]", "rules[0].match.annotations[a]: Invalid value: 1: must be a string"],
  ["rules: [{exit: never, choices: [{}]}]", "rules[0].exit: Forbidden"],
  ["rules: [{choices: [{weight: 0}]}]", "rules[0].choices[0].weight: Invalid value: 0: must be greater than 0"],
  ["images: [{}]", "images[0].names: Required value"],
  ["rules: []\nrules: []", 'the field "rules" occurs twice'],
])("the file %p is refused: %s", (text, message) => {
  expect(() => parse(text)).toThrow(message);
});

describe("the plan of a container", () => {
  const plan = (more: Partial<Pod>, rules = noRules) =>
    planContainer(rules, { ...pod, ...more }, { spec: container }, () => 0);
  const metadata = (annotations: Record<string, string>) => ({ ...pod.metadata, annotations });

  test("is to run on", () => {
    expect(plan({})).toEqual({ behaviour: runsOn, exitOtherwise: "never" });
  });

  test("is to complete for a Job's pod and an init container", () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", controller: true };
    const ofJob = { metadata: { ...pod.metadata, ownerReferences: [owner] }, spec: { restartPolicy: "Never" } };
    expect(plan(ofJob as Partial<Pod>).exitOtherwise).toMatchObject({ code: 0 });
    const pause = { name: "main", image: "registry.k8s.io/pause:3.10" };
    expect(planContainer(noRules, { ...pod, ...ofJob } as Pod, { spec: pause }, () => 0).exitOtherwise).toBe("never");
    const initContainers = [container];
    expect(plan({ spec: { containers: [], initContainers } }).exitOtherwise).toMatchObject({ code: 0 });
    const sidecars = [{ ...container, restartPolicy: "Always" }];
    expect(plan({ spec: { containers: [], initContainers: sidecars } }).exitOtherwise).toBe("never");
  });

  test("follows annotations before rules", () => {
    const rules = parse("rules: [{ready: never, exit: {code: 9}}]");
    const annotations = { [stepsAnnotation]: "exit: {code: 1}", [`${stepsAnnotation}.side`]: "exit: {code: 2}" };
    expect(plan({ metadata: metadata(annotations) }, rules).behaviour).toMatchObject({
      ready: "never",
      exit: { code: 1 },
    });
    const own = { ...annotations, [`${stepsAnnotation}.main`]: "exit: never" };
    expect(plan({ metadata: metadata(own) }).behaviour.exit).toBe("never");
  });

  test("refuses an annotation that cannot be read", () => {
    expect(() => plan({ metadata: metadata({ [stepsAnnotation]: "exit: {cod: 1}" }) })).toThrow(
      `annotation ${stepsAnnotation}: exit.cod: Invalid value: unknown field`,
    );
  });
});
