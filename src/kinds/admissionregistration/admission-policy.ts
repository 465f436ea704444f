import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  NamedRuleWithOperations,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from "../../api/types/admissionregistration-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { staticNameWarnings } from "./static-names.ts";

/** Rules that admission policies and their bindings share. */
export const policyStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "whole",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["spec"],
  warnings: staticNameWarnings,
};

export function validatingPolicyCells({ spec = {} }: ValidatingAdmissionPolicy): Cells {
  return { Validations: (spec.validations ?? []).length, ParamKind: paramKindText(spec) };
}

export function mutatingPolicyCells({ spec = {} }: MutatingAdmissionPolicy): Cells {
  return { Mutations: (spec.mutations ?? []).length, ParamKind: paramKindText(spec) };
}

function paramKindText({ paramKind }: Pick<ValidatingAdmissionPolicySpec, "paramKind">): string {
  return paramKind === undefined ? "<unset>" : `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}`;
}

/** Returns the cells of a binding of a validating or mutating policy. */
export function policyBindingCells({
  spec = {},
}: ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding): Cells {
  return {
    PolicyName: spec.policyName ?? "",
    ParamRef: spec.paramRef === undefined ? "<unset>" : paramText(spec.paramRef),
  };
}

function paramText({ name = "", namespace, selector }: ParamRef): string {
  return name === "" ? selectorText(selector) : `${namespace || "*"}/${name}`;
}

/** Rules apply to objects with and without a namespace by default. */
export function defaultPolicyRule(rule: NamedRuleWithOperations): void {
  rule.scope ??= "*";
}
