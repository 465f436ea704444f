export type { RunningServer, ServerOptions } from "./config/server-options.ts";
export { StartupError } from "./config/startup-error.ts";
export { startServer } from "./server.ts";
