import type { Cells } from "../../api/codec/table/table-rules.ts";
import type * as resourceV1 from "../../api/types/resource-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { resourceClaimConversion } from "./conversion.ts";
import { allocatedKeys, deviceKey } from "./device-key.ts";
import { validateResourceClaim, validateResourceClaimUpdate } from "./validation/resource-claim.ts";
import { validateResourceClaimStatus } from "./validation/resource-claim-status.ts";

const resourceClaimStrategy: Strategy<resourceV1.ResourceClaim> = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validateInTurns: validateResourceClaim,
  validateUpdate: validateResourceClaimUpdate,
};

const parentStatusStrategy: Strategy<resourceV1.ResourceClaim> = statusStrategy(resourceClaimStrategy, {
  keepsMetadata: true,
});

const resourceClaimStatusStrategy: Strategy<resourceV1.ResourceClaim> = {
  ...parentStatusStrategy,
  prepareForUpdate(claim, old, nowMs) {
    parentStatusStrategy.prepareForUpdate(claim, old, nowMs);
    dropReportsOfReleasedDevices(claim, old);
  },
  validate: validateResourceClaimStatus,
};

export const resourceClaim = builtInKind("resourceclaims.resource.k8s.io", {
  endpoint: stored(resourceClaimStrategy),
  table: { cells: resourceClaimCells },
  conversions: { v1beta1: () => resourceClaimConversion },
  defaults: {
    "resource/v1.DeviceSubRequest": defaultDeviceRequest,
    "resource/v1.ExactDeviceRequest": defaultDeviceRequest,
  },
  subresources: {
    status: subresource(resourceClaimStatusStrategy),
  },
  descriptions: {
    "resource/v1.ResourceClaim": { "": "Asks for devices, and stands for them once they are there." },
    "resource/v1.ResourceClaimSpec": { "": "The wanted devices.", devices: "Requests, constraints and settings." },
    "resource/v1.ResourceClaimStatus": {
      "": "The devices.",
      allocation: "Devices that the claim has.",
      reservedFor: "Users of the claim.",
      devices: "Reports of the drivers about the devices.",
    },
  },
});

/** A scheduler that takes devices away need not know about the reports on them. */
function dropReportsOfReleasedDevices({ status }: resourceV1.ResourceClaim, old: resourceV1.ResourceClaim): void {
  if (status?.devices === undefined) return;
  const released = allocatedKeys(old.status ?? {}).difference(allocatedKeys(status));
  const devices = status.devices.filter((device) => !released.has(deviceKey(device)));
  if (devices.length > 0) status.devices = devices;
  else delete status.devices;
}

function resourceClaimCells({ metadata, status = {} }: resourceV1.ResourceClaim): Cells {
  const going = metadata.deletionTimestamp !== undefined;
  const states = going ? ["deleted"] : [];
  if (status.allocation === undefined) states.push(...(going ? [] : ["pending"]));
  else states.push("allocated", ...((status.reservedFor ?? []).length > 0 ? ["reserved"] : []));
  return { State: states.join(",") };
}

/** Completes a request or one of its alternatives. It is for one device, unless it is for all of them. */
function defaultDeviceRequest(request: resourceV1.ExactDeviceRequest | resourceV1.DeviceSubRequest): void {
  request.allocationMode ||= "ExactCount";
  if (request.allocationMode === "ExactCount") request.count ||= 1;
}
