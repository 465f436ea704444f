import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateMutatingBinding, validateValidatingBinding } from "../validation/admission-policy-binding.ts";
import {
  validateMutatingPolicy,
  validateValidatingPolicy,
  validateValidatingPolicyStatus,
} from "../validation/admission-policy.ts";

const policyStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["spec"],
};

export const validatingPolicyStrategy: Strategy = {
  ...policyStrategy,
  resetFields: ["status"],
  validate: validateValidatingPolicy,
};

export const validatingPolicyStatusStrategy: Strategy = {
  ...statusStrategy(validatingPolicyStrategy),
  validate: validateValidatingPolicyStatus,
};

export const mutatingPolicyStrategy: Strategy = { ...policyStrategy, validate: validateMutatingPolicy };

export const validatingBindingStrategy: Strategy = { ...policyStrategy, validate: validateValidatingBinding };

export const mutatingBindingStrategy: Strategy = { ...policyStrategy, validate: validateMutatingBinding };
