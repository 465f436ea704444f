import type { Log } from "../process/logs.ts";
import type { ServerConfig } from "./config/server-options.ts";
import type { ServerStore } from "./open-store.ts";

/** The dependencies that every part of a server needs. */
export interface StartContext {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly storage: ServerStore;
  /** Reports a failure in the background. The server continues. */
  onError(error: unknown): void;
}
