import { structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

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
