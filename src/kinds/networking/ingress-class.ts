import { objectOf, textOf } from "../../api/json-reading.ts";
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
  descriptions: {
    "networking/v1.IngressClass": { "": "A kind of ingress, and who implements it." },
    "networking/v1.IngressClassSpec": {
      "": "The controller of a class.",
      controller: "Name of the implementation.",
      parameters: "An object with further settings.",
    },
  },
});

function ingressClassCells(ingressClass: JsonObject): Cells {
  const spec = objectOf(ingressClass["spec"]);
  const parameters = objectOf(spec["parameters"]);
  const group = textOf(parameters["apiGroup"]);
  const kind = `${textOf(parameters["kind"])}${group === "" ? "" : `.${group}`}`;
  return {
    Controller: textOf(spec["controller"]),
    Parameters: spec["parameters"] === undefined ? "<none>" : `${kind}/${textOf(parameters["name"])}`,
  };
}
