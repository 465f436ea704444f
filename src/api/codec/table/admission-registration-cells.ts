import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, structsIn, textIn } from "./reading.ts";
import { selectorText } from "./workload-cells.ts";

/** Configurations of mutating and of validating webhooks. */
export function webhookConfigurationCells(configuration: JsonObject): Cells {
  return { Webhooks: structsIn(configuration, "webhooks").length };
}

/** Mutating and validating policies; each has one of the two columns. */
export function admissionPolicyCells(policy: JsonObject): Cells {
  const spec = structIn(policy, "spec");
  const kind = structIn(spec, "paramKind");
  return {
    Validations: structsIn(spec, "validations").length,
    Mutations: structsIn(spec, "mutations").length,
    ParamKind: spec["paramKind"] === undefined ? "<unset>" : `${textIn(kind, "apiVersion")}/${textIn(kind, "kind")}`,
  };
}

export function admissionPolicyBindingCells(binding: JsonObject): Cells {
  const spec = structIn(binding, "spec");
  return {
    PolicyName: textIn(spec, "policyName"),
    ParamRef: spec["paramRef"] === undefined ? "<unset>" : paramText(structIn(spec, "paramRef")),
  };
}

function paramText(reference: JsonObject): string {
  const name = textIn(reference, "name");
  if (name !== "") return `${textIn(reference, "namespace") || "*"}/${name}`;
  return selectorText(reference["selector"]);
}
