import type { JsonValue } from "../../../api/json.ts";
import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validatePodTemplate } from "../../validation/pod-template.ts";

export const podTemplateStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  generationFields: ["template"],
  validate: (object) => validatePodTemplate(object["template"] as JsonValue | undefined, "template"),
};
