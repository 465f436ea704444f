import type { Log } from "../process/logs.ts";
import type { ServerConfig } from "./config/server-options.ts";
import type { ServerStore } from "./open-store.ts";

/** The place of a serving process in its server. */
export interface ServingPlace {
  /** Counted from 1. */
  readonly number: number;
  /** The socket for requests that only the process with the store answers. */
  readonly requests: string;
}

/** The dependencies that every part of a server needs. */
export interface StartContext {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly storage: ServerStore;
  /** This process's place among the serving processes; undefined in the process that keeps the store. */
  readonly serving?: ServingPlace | undefined;
  /** Reports a failure in the background. The server continues. */
  onError(error: unknown): void;
}
