import type { Log } from "../process/logs.ts";
import type { ServerConfig } from "./config/server-options.ts";
import type { ServerStore } from "./open-store.ts";

/** The things that every part of a server is opened with. */
export interface StartContext {
  readonly config: ServerConfig;
  readonly log: Log;
  readonly storage: ServerStore;
  /** Hears of a failure in the background; the server goes on. */
  onError(error: unknown): void;
}
