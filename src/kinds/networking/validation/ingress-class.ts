import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateDomainPrefixedPath } from "../../../api/validation/domain-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateTypedReference } from "./ingress.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { isPresent, textOf } from "../../../api/validation/fields.ts";

const controllerBytesMax = 250;

export function validateIngressClass(ingressClass: KubeObject): FieldError[] {
  const spec = fieldsOf(ingressClass["spec"]);
  const controller = textOf(spec["controller"]);
  return [
    ...(Buffer.byteLength(controller) > controllerBytesMax
      ? [fieldError.tooLong("spec.controller", controllerBytesMax)]
      : []),
    ...validateDomainPrefixedPath(controller, "spec.controller"),
    ...(isPresent(spec["parameters"]) ? validateParameters(fieldsOf(spec["parameters"]), "spec.parameters") : []),
  ];
}

export function validateIngressClassUpdate(ingressClass: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(ingressClass["spec"]), fieldsOf(old["spec"])];
  return validateImmutable(fresh["controller"], stored["controller"], "spec.controller");
}

function validateParameters(parameters: JsonObject, field: string): FieldError[] {
  const errors = validateTypedReference(parameters, field);
  const { scope, namespace } = parameters;
  switch (scope ?? null) {
    case null:
      return [...errors, fieldError.required(`${field}.scope`)];
    case "Cluster":
      if (!isPresent(namespace)) return errors;
      return [...errors, fieldError.forbidden(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'")];
    case "Namespace": {
      if (!isPresent(namespace)) {
        return [...errors, fieldError.required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'")];
      }
      const problems = dnsLabelProblems(textOf(namespace));
      return [...errors, ...problems.map((problem) => fieldError.invalid(`${field}.namespace`, namespace, problem))];
    }
    default:
      return [...errors, fieldError.notSupported(`${field}.scope`, scope, ["Cluster", "Namespace"])];
  }
}
