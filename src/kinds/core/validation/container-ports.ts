import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { portNameProblems } from "../../../api/validation/names.ts";
import { numberOf, objectsOf, textOf, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { validatePortNumber } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export const protocols: readonly string[] = ["SCTP", "TCP", "UDP"];

export function validateContainerPorts(ports: JsonValue | undefined, field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(objectsOf(ports), (port, at) => [
    ...validateName(textOf(port["name"]), `${field}[${at}].name`, names),
    ...(numberOf(port["containerPort"]) === 0
      ? [fieldError.required(`${field}[${at}].containerPort`)]
      : validatePortNumber(port["containerPort"], `${field}[${at}].containerPort`)),
    ...(numberOf(port["hostPort"]) === 0 ? [] : validatePortNumber(port["hostPort"], `${field}[${at}].hostPort`)),
    ...validateRequiredChoice(port["protocol"], protocols, `${field}[${at}].protocol`),
  ]);
}

/** No two containers that run side by side may listen on the same port of their host. */
export function validateHostPortsUnique(containers: readonly JsonObject[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(containers, (container, index) =>
    validateEach(objectsOf(container["ports"]), (port, at) => {
      if (numberOf(port["hostPort"]) === 0) return [];
      const address = `${textOf(port["protocol"])}/${textOf(port["hostIP"])}/${numberOf(port["hostPort"])}`;
      if (seen.has(address)) return [fieldError.duplicate(`${field}[${index}].ports[${at}].hostPort`, address)];
      seen.add(address);
      return [];
    }),
  );
}

/** On its host's network a container's ports are the host's; a template may leave that to be filled in. */
export function validateHostNetworkPorts(
  containers: readonly JsonObject[],
  field: string,
  isPod: boolean,
): FieldError[] {
  return validateEach(containers, (container, index) =>
    validateEach(objectsOf(container["ports"]), (port, at) => {
      const hostPort = numberOf(port["hostPort"]);
      if (hostPort === numberOf(port["containerPort"]) || (!isPod && hostPort === 0)) return [];
      const text = "must match `containerPort` when `hostNetwork` is true";
      return [fieldError.invalid(`${field}[${index}].ports[${at}].hostPort`, hostPort, text)];
    }),
  );
}

function validateName(name: string, field: string, names: Set<string>): FieldError[] {
  if (name === "") return [];
  const problems = portNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => fieldError.invalid(field, name, problem));
  if (names.has(name)) return [fieldError.duplicate(field, name)];
  names.add(name);
  return [];
}
