import { pairsText } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PodTemplate } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { templateCells } from "../apps/workload-cells.ts";
import { podWarnings } from "./pod-warnings.ts";
import { validatePodTemplate } from "./validation/pod-template.ts";

const podTemplateStrategy: Strategy<PodTemplate> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  generationFields: ["template"],
  warnings: ({ metadata, template = {} }, old) =>
    metadata.generation === old?.metadata.generation ? [] : podWarnings(template, "template"),
  validate: ({ template }) => validatePodTemplate(template, "template"),
};

export const podTemplate = builtInKind("podtemplates", {
  endpoint: stored(podTemplateStrategy),
  table: { cells: podTemplateCells },
  descriptions: {
    "core/v1.PodTemplate": { "": "A stored description of pods, for others to use.", template: "The pods to make." },
    "core/v1.PodTemplateSpec": { "": "Metadata and spec of the pods to make." },
  },
});

function podTemplateCells({ template }: PodTemplate): Cells {
  return { ...templateCells(template), "Pod Labels": pairsText(template?.metadata?.labels) };
}
