import type { Revision } from "../../api/revision.ts";
import type { ServiceRef } from "./cluster-ip-allocator.ts";

/** Reports whether a port is held by the Service that took it; by any Service, if the one that took it is not known. */
export type HoldsPort = (port: number, service: ServiceRef | undefined) => boolean;

/** Gives out node ports. */
export interface NodePorts {
  /**
   * Takes a free port; undefined if none is left.
   * @param except ports that the same request already has
   */
  takeAny(service: ServiceRef, except: ReadonlySet<number>): Promise<number | undefined>;
  /** Takes the requested port. @returns the reason if it is not available */
  take(port: number, service: ServiceRef, dryRun: boolean): Promise<string | undefined>;
  /** Releases the port, unless it is known to have another owner now. */
  release(port: number, service: ServiceRef): Promise<void>;
  /** Returns the owner of a port; undefined if the port is free, and "unknown" if it is taken without a name. */
  ownerOf(port: number): ServiceRef | "unknown" | undefined;
  /**
   * Releases ports that a stopped server has left behind.
   * @param settled ports that were taken later than at this revision may belong to a request that is not finished
   * @returns the number of ports that were released
   */
  releaseUnheld(isHeld: HoldsPort, settled: Revision): Promise<number>;
}
