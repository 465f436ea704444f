export type { RunningServer, ServerOptions } from "./server/config/server-options.ts";
export { StartupError } from "./process/startup-error.ts";
export { startServer } from "./server/server.ts";
