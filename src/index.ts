export { StatusError } from "./api/status.ts";
export type {
  Client,
  ListOptions,
  ObjectList,
  ObjectName,
  Patch,
  ResourceType,
  WatchEvent,
  WatchOptions,
} from "./client/client.ts";
export { httpClient } from "./client/http-client.ts";
export { Informer, type InformerOptions } from "./client/informer.ts";
export { readKubeconfig } from "./client/kubeconfig.ts";
export { NoAnswerError } from "./client/transport.ts";
export { StartupError } from "./process/startup-error.ts";
export type { RunningServer, ServerOptions } from "./server/config/server-options.ts";
export { startServer } from "./server/server.ts";
