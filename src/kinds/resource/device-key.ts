/** A device, and the share of it that a claim has. */
export interface SharedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

/** Returns a key that differs for different devices and shares. The parts are names, which contain no `|`. */
export function deviceKey({ driver, pool, device, shareID = "" }: SharedDevice): string {
  return [driver, pool, device, shareID].join("|");
}
