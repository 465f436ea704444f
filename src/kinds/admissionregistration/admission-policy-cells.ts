import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Mutating and validating policies; each has one of the two columns. */
export function admissionPolicyCells(policy: JsonObject): Cells {
  const spec = objectOf(policy["spec"]);
  const kind = objectOf(spec["paramKind"]);
  return {
    Validations: objectsOf(spec["validations"]).length,
    Mutations: objectsOf(spec["mutations"]).length,
    ParamKind: spec["paramKind"] === undefined ? "<unset>" : `${textOf(kind["apiVersion"])}/${textOf(kind["kind"])}`,
  };
}

export function admissionPolicyBindingCells(binding: JsonObject): Cells {
  const spec = objectOf(binding["spec"]);
  return {
    PolicyName: textOf(spec["policyName"]),
    ParamRef: spec["paramRef"] === undefined ? "<unset>" : paramText(objectOf(spec["paramRef"])),
  };
}

function paramText(reference: JsonObject): string {
  const name = textOf(reference["name"]);
  if (name !== "") return `${textOf(reference["namespace"]) || "*"}/${name}`;
  return selectorText(reference["selector"]);
}
