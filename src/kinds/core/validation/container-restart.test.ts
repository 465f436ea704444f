import { describe, expect, test } from "bun:test";
import { fieldErrorText } from "../../../api/field-error.ts";
import type { Container } from "../../../api/types/core-v1.ts";
import { validateInitRestartRules, validateRestartRules } from "./container-restart.ts";

type Restart = Pick<Container, "restartPolicy" | "restartPolicyRules">;
const rule = { action: "Restart", exitCodes: { operator: "In", values: [1] } };
const required = "c.restartPolicy: Required value: must specify restartPolicy when restart rules are used";

describe("restart rules", () => {
  test.each<[Restart, ...causes: string[]]>([
    [{}],
    [{ restartPolicy: "Never", restartPolicyRules: [rule] }],
    [{ restartPolicyRules: [rule] }, required],
    [
      { restartPolicy: "Sometimes" },
      'c.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
    ],
    [
      { restartPolicy: "Never", restartPolicyRules: [{ action: "Restart" }] },
      "c.restartPolicyRules[0].exitCodes: Required value: must be specified",
    ],
    [
      { restartPolicy: "Never", restartPolicyRules: Array.from({ length: 21 }, () => rule) },
      "c.restartPolicyRules: Too many: 21: must have at most 20 items",
    ],
  ])("%j of a container are judged", (container, ...causes) => {
    expect(validateRestartRules({ name: "c", ...container }, "c").map(fieldErrorText)).toEqual(causes);
  });

  test("of an init container are not judged without a policy", () => {
    const restartPolicyRules = [{ action: "Unknown" }];
    expect(validateInitRestartRules({ name: "c", restartPolicyRules }, "c").map(fieldErrorText)).toEqual([required]);
    const judged = validateInitRestartRules({ name: "c", restartPolicy: "Always", restartPolicyRules }, "c");
    expect(judged.map(({ field }) => field)).toEqual([
      "c.restartPolicyRules[0].action",
      "c.restartPolicyRules[0].exitCodes",
    ]);
  });
});
