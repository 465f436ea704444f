import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as networkingV1 from "../../../api/types/networking-v1.ts";
import { validateDomainPrefixedPath } from "../../../api/validation/domain-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateTypedReference } from "./ingress-backend.ts";

const controllerBytesMax = 250;

export function validateIngressClass({ spec = {} }: networkingV1.IngressClass): FieldError[] {
  const { controller = "", parameters } = spec;
  return [
    ...(Buffer.byteLength(controller) > controllerBytesMax
      ? [fieldError.tooLong("spec.controller", controllerBytesMax)]
      : []),
    ...validateDomainPrefixedPath(controller, "spec.controller"),
    ...(parameters === undefined ? [] : validateParameters(parameters, "spec.parameters")),
  ];
}

export function validateIngressClassUpdate(
  ingressClass: networkingV1.IngressClass,
  old: networkingV1.IngressClass,
): FieldError[] {
  const controllerOf = ({ spec }: networkingV1.IngressClass) => spec?.controller ?? "";
  return [
    ...validateImmutable(controllerOf(ingressClass), controllerOf(old), "spec.controller"),
    ...validateIngressClass(ingressClass),
  ];
}

function validateParameters(parameters: networkingV1.IngressClassParametersReference, field: string): FieldError[] {
  const errors = validateTypedReference(parameters, field);
  const { scope, namespace } = parameters;
  switch (scope ?? null) {
    case null:
      return [...errors, fieldError.required(`${field}.scope`)];
    case "Cluster":
      if (namespace === undefined) return errors;
      return [...errors, fieldError.forbidden(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'")];
    case "Namespace": {
      if (namespace === undefined) {
        return [...errors, fieldError.required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'")];
      }
      const problems = dnsLabelProblems(namespace);
      return [...errors, ...problems.map((problem) => fieldError.invalid(`${field}.namespace`, namespace, problem))];
    }
    default:
      return [...errors, fieldError.notSupportedText(`${field}.scope`, scope, ["Cluster", "Namespace"])];
  }
}
