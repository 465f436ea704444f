import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Container, ContainerPort } from "../../../api/types/core-v1.ts";
import { validateRequiredChoice } from "../../../api/validation/field-rules.ts";
import { portNameProblems } from "../../../api/validation/names.ts";
import { validatePortNumber } from "../../../api/validation/port.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export const protocols: readonly string[] = ["SCTP", "TCP", "UDP"];

export function validateContainerPorts(ports: readonly ContainerPort[], field: string): FieldError[] {
  const names = new Set<string>();
  return validateEach(ports, ({ name = "", containerPort, hostPort = 0, protocol }, at) => [
    ...validateName(name, `${field}[${at}].name`, names),
    ...(containerPort === 0
      ? [fieldError.required(`${field}[${at}].containerPort`)]
      : validatePortNumber(containerPort, `${field}[${at}].containerPort`)),
    ...(hostPort === 0 ? [] : validatePortNumber(hostPort, `${field}[${at}].hostPort`)),
    ...validateRequiredChoice(protocol, protocols, `${field}[${at}].protocol`),
  ]);
}

/** Rejects containers that run at the same time and listen on the same port of their host. */
export function validateHostPortsUnique(containers: readonly Container[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(containers, (container, index) =>
    validateEach(container.ports ?? [], ({ protocol = "", hostIP = "", hostPort = 0 }, at) => {
      if (hostPort === 0) return [];
      const address = `${protocol}/${hostIP}/${hostPort}`;
      if (seen.has(address)) return [fieldError.duplicate(`${field}[${index}].ports[${at}].hostPort`, address)];
      seen.add(address);
      return [];
    }),
  );
}

/** On the host's network a container's ports are the host's. A template may omit them. */
export function validateHostNetworkPorts(
  containers: readonly Container[],
  field: string,
  isPod: boolean,
): FieldError[] {
  return validateEach(containers, (container, index) =>
    validateEach(container.ports ?? [], ({ hostPort = 0, containerPort }, at) => {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) return [];
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
