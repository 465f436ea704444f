import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { EndpointPort, ServicePort } from "../../../api/types/core-v1.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const protocols = ["SCTP", "TCP", "UDP"];

/** Validates the ports of a Service and their targets. */
export function validateServicePorts(ports: readonly ServicePort[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(ports, (port, at) => {
    const path = `${field}[${at}]`;
    const errors = validateCommon(port, ports.length > 1, names, path);
    return [
      ...errors,
      ...validatePortNumberOrName(port.targetPort, `${path}.targetPort`),
      ...validateAppProtocol(port, path),
    ];
  });
}

/** Validates the ports of a subset of Endpoints. Their names have to be unique in a Service only. */
export function validateEndpointPorts(ports: readonly EndpointPort[], field: string): FieldError[] {
  return validateEach(ports, (port, at) => {
    const path = `${field}[${at}]`;
    return [...validateCommon(port, ports.length > 1, new Set(), path), ...validateAppProtocol(port, path)];
  });
}

function validateCommon(
  { name = "", port, protocol }: EndpointPort | ServicePort,
  isNamed: boolean,
  names: Set<string>,
  field: string,
): FieldError[] {
  const errors = dnsLabelProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  if (name === "") errors.splice(0, errors.length, ...(isNamed ? [fieldError.required(`${field}.name`)] : []));
  else if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name));
  names.add(name);
  return [
    ...errors,
    ...validatePortNumber(port, `${field}.port`),
    ...validateRequiredChoice(protocol, protocols, `${field}.protocol`),
  ];
}

function validateAppProtocol({ appProtocol }: EndpointPort | ServicePort, field: string): FieldError[] {
  if (appProtocol === undefined) return [];
  const problems = labelKeyErrors(appProtocol);
  return problems.map((problem) => fieldError.invalid(`${field}.appProtocol`, appProtocol, problem));
}
