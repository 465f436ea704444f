import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { IngressClass, IngressClassParametersReference } from "../../api/types/networking-v1.ts";
import { defaultStrategy, forNewObjects } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
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
    "networking/v1.IngressClassParametersReference": defaultParameters,
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

function ingressClassCells({ spec }: IngressClass): Cells {
  return {
    Controller: spec?.controller ?? "",
    Parameters: spec?.parameters === undefined ? "<none>" : parametersText(spec.parameters),
  };
}

/** `IngressParameters.example.com/name`. */
function parametersText({ apiGroup = "", kind, name }: IngressClassParametersReference): string {
  return `${kind}${apiGroup === "" ? "" : `.${apiGroup}`}/${name}`;
}

function defaultParameters(parameters: IngressClassParametersReference): void {
  parameters.scope ??= "Cluster";
}
