import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { EndpointAddress, EndpointSubset, Endpoints } from "../../../api/types/core-v1.ts";
import { validateText } from "../../../api/validation/field-rules.ts";
import { validateIp, validateNonSpecialIp } from "../../../api/validation/ip.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateEndpointPorts } from "./service-port.ts";

export function validateEndpoints({ subsets = [] }: Endpoints): FieldError[] {
  return subsets.flatMap((subset, at) => validateSubset(subset, `subsets[${at}]`)).slice(0, fieldErrorsMax);
}

function validateSubset(subset: EndpointSubset, field: string): FieldError[] {
  const { addresses: ready = [], notReadyAddresses: notReady = [], ports = [] } = subset;
  return [
    ...(ready.length + notReady.length === 0
      ? [fieldError.required(field, "must specify `addresses` or `notReadyAddresses`")]
      : []),
    ...validateEach(ready, (address, at) => validateAddress(address, `${field}.addresses[${at}]`)),
    ...validateEach(notReady, (address, at) => validateAddress(address, `${field}.notReadyAddresses[${at}]`)),
    ...validateEndpointPorts(ports, `${field}.ports`),
  ];
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, field: string): FieldError[] {
  return [
    ...validateIp(ip, `${field}.ip`),
    ...validateText(hostname, dnsLabelProblems, `${field}.hostname`),
    ...(nodeName === undefined
      ? []
      : dnsSubdomainProblems(nodeName).map((problem) => fieldError.invalid(`${field}.nodeName`, nodeName, problem))),
    ...validateNonSpecialIp(ip, `${field}.ip`),
  ];
}
