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
