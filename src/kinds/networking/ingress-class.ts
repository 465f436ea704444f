import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultStrategy, forNewObjects } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultIngressClassParameters } from "./defaults/ingress-class.ts";
import { validateIngressClass, validateIngressClassUpdate } from "./validation/ingress-class.ts";

export const ingressClass = builtInKind("ingressclasses.networking.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    generationFields: ["spec"],
    validate: forNewObjects(validateIngressClass),
    validateUpdate: validateIngressClassUpdate,
  }),
  table: { cells: ingressClassCells },
  defaults: {
    "networking/v1.IngressClassParametersReference": defaultIngressClassParameters,
  },
});

function ingressClassCells(ingressClass: JsonObject): Cells {
  const spec = structIn(ingressClass, "spec");
  const parameters = structIn(spec, "parameters");
  const group = textIn(parameters, "apiGroup");
  const kind = `${textIn(parameters, "kind")}${group === "" ? "" : `.${group}`}`;
  return {
    Controller: textIn(spec, "controller"),
    Parameters: spec["parameters"] === undefined ? "<none>" : `${kind}/${textIn(parameters, "name")}`,
  };
}
