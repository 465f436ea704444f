import { type Clock, systemClock } from "../process/clock.ts";
import type { Client } from "./client.ts";
import { HttpTransport } from "./http-transport.ts";
import type { KubeconfigServer } from "./kubeconfig.ts";
import { RequestClient } from "./request-client.ts";

export interface HttpClientOptions {
  readonly clock?: Clock | undefined;
  readonly userAgent?: string | undefined;
}

/** Returns a client of a remote API server over HTTP/2. Its connection keeps the process alive until it is disposed of. */
export function httpClient(server: KubeconfigServer, options: HttpClientOptions = {}): Client {
  const { clock = systemClock, userAgent = "quorate" } = options;
  return new RequestClient({ transport: new HttpTransport(server, clock), clock, userAgent });
}
