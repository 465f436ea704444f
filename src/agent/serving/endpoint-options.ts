import type { ListenerTls } from "../../access/certificates/identity.ts";
import type { JsonObject } from "../../api/json.ts";
import type { Client } from "../../client/client.ts";
import type { ListenerLimits } from "../../http/listener.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/logs.ts";
import type { IncomingRequest } from "../../request/exchange.ts";
import type { PodDirectory } from "../pods/pod-directory.ts";
import type { AccessOptions } from "./endpoint-access.ts";
import type { HealthCheck } from "./health.ts";
import type { NodeStats } from "./stats/node-stats.ts";

/** Parts of the endpoint that can be turned off, under the names of kubelet's configuration. All are on by default. */
export interface EndpointSwitches {
  /**
   * Exec, attach, run, port-forward, logs of containers and of the host, running pods, profiling, and as in kubelet
   * also the configuration, checkpoints, `/statusz` and `/flagz`.
   */
  readonly enableDebuggingHandlers?: boolean | undefined;
  /** `/logs/` */
  readonly enableSystemLogHandler?: boolean | undefined;
  /** The feature gate of `/checkpoint`. */
  readonly containerCheckpoint?: boolean | undefined;
}

/** The parts that the endpoint asks. */
export interface EndpointParts {
  readonly directory: PodDirectory;
  /** The client that asks the API server for TokenReviews and SubjectAccessReviews. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the node that a request is for; "" for all nodes of this agent, which needs permission for all nodes. */
  readonly nodeNameOf: (request: IncomingRequest) => string;
  /** Returns the measured state of the machine; undefined values are left out of answers. */
  readonly nodeStats: () => Promise<NodeStats>;
  /** Returns the configuration that `/configz` shows. It must not contain credentials. */
  readonly configuration: () => JsonObject;
  /** Returns the value of every flag by name, for `/flagz`; undefined if there are none. */
  readonly flags?: (() => ReadonlyMap<string, string>) | undefined;
  /** Returns further metrics for `/metrics` as text. */
  readonly metrics?: (() => string) | undefined;
  /** The checks of `/healthz` besides `ping`. */
  readonly checks?: readonly HealthCheck[] | undefined;
}

/** An address to listen on. */
export interface Address {
  readonly host: string;
  /** Port; 0 for any free one. */
  readonly port: number;
}

export interface EndpointOptions extends EndpointParts, Address {
  /** Address without TLS that only has `/healthz`, upstream's 127.0.0.1:10248; undefined for none. */
  readonly healthAddress?: Address | undefined;
  /** Address without TLS where anyone may read pods, statistics and metrics, upstream's 10255; undefined for none. */
  readonly readOnlyAddress?: Address | undefined;
  /** The serving certificate, and as `ca` the authorities of clients. */
  readonly tls: ListenerTls;
  readonly access: AccessOptions;
  readonly switches?: EndpointSwitches | undefined;
  /** `--root-dir`. Checkpoints are written below it. */
  readonly rootDir: string;
  /** Directory that `/logs/` shows. */
  readonly logsDir: string;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Time without a byte after which a session is closed. */
  readonly streamingIdleTimeoutMs?: number | undefined;
}
