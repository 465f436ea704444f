import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { ipAddressNameProblems, validateIpAddress, validateIpAddressUpdate } from "../validation/ip-address.ts";

export const ipAddressStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validateName: ipAddressNameProblems,
  validate: validateIpAddress,
  validateUpdate: validateIpAddressUpdate,
};
