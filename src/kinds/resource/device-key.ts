import type { ResourceClaimStatus } from "../../api/types/resource-v1.ts";

/** A device, and a claim's share of it. */
export interface SharedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

/** Returns a key that is unique for a device and share. The parts are names, which contain no `|`. */
export function deviceKey({ driver, pool, device, shareID = "" }: SharedDevice): string {
  return [driver, pool, device, shareID].join("|");
}

/** Returns the keys of the devices that a claim was given. */
export function allocatedKeys({ allocation }: ResourceClaimStatus): Set<string> {
  return new Set((allocation?.devices?.results ?? []).map(deviceKey));
}
