import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { isPresent, textOf } from "../../../api/json-reading.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { validatePortNumber, validatePortNumberOrName } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const protocols = ["SCTP", "TCP", "UDP"];

/** Ports of a Service: where it listens, and where it leads. */
export function validateServicePorts(ports: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(ports, (port, at) => {
    const path = `${field}[${at}]`;
    const errors = validateCommon(port, ports.length > 1, names, path);
    return [
      ...errors,
      ...validatePortNumberOrName(port["targetPort"], `${path}.targetPort`),
      ...validateAppProtocol(port, path),
    ];
  });
}

/** Ports of a subset of Endpoints; names only have to be unique in a Service. */
export function validateEndpointPorts(ports: readonly JsonObject[], field: string): FieldError[] {
  return validateEach(ports, (port, at) => {
    const path = `${field}[${at}]`;
    return [...validateCommon(port, ports.length > 1, new Set(), path), ...validateAppProtocol(port, path)];
  });
}

function validateCommon(port: JsonObject, isNamed: boolean, names: Set<string>, field: string): FieldError[] {
  const name = textOf(port["name"]);
  const errors = dnsLabelProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  if (name === "") errors.splice(0, errors.length, ...(isNamed ? [fieldError.required(`${field}.name`)] : []));
  else if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name));
  names.add(name);
  return [
    ...errors,
    ...validatePortNumber(port["port"], `${field}.port`),
    ...validateRequiredChoice(port["protocol"], protocols, `${field}.protocol`),
  ];
}

function validateAppProtocol({ appProtocol }: JsonObject, field: string): FieldError[] {
  if (!isPresent(appProtocol)) return [];
  const problems = labelKeyErrors(textOf(appProtocol));
  return problems.map((problem) => fieldError.invalid(`${field}.appProtocol`, appProtocol, problem));
}
