import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { ipAddressNameProblems, validateIpAddress, validateIpAddressUpdate } from "./validation/ip-address.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const ipAddressStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validateName: ipAddressNameProblems,
  validate: validateIpAddress,
  validateUpdate: validateIpAddressUpdate,
};

export const ipAddress = builtInKind("ipaddresses.networking.k8s.io", {
  endpoint: stored(ipAddressStrategy),
});
