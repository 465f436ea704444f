import type { EvictionSettings } from "./eviction/eviction-limits.ts";
import type { NodeSettings } from "./node/node-settings.ts";
import type { Address } from "./serving/endpoint-options.ts";

/** The configuration of an agent for this machine. */
export interface AgentOptions {
  readonly kubeconfig: string;
  readonly rootDirectory: string;
  readonly certificateDirectory: string;
  readonly node: Omit<NodeSettings, "version" | "port" | "declaredFeatures">;
  /** Whether the client certificate of a joined machine is renewed. */
  readonly rotatesClientCertificate: boolean;
  readonly runtime: RuntimeChoice;
  readonly eviction: EvictionSettings;
  /** Directory of the logs of containers. */
  readonly logDirectory: string;
  /** The resolver of pods on a container runtime. */
  readonly dns: { readonly servers: readonly string[]; readonly domain: string };
  /** File or directory of static pods. */
  readonly manifestPath: string | undefined;
  readonly endpoint: AgentEndpointOptions;
  /** The text of every flag by name, for `/flagz`. */
  readonly flagTexts: ReadonlyMap<string, string>;
}

export type RuntimeChoice =
  | { readonly kind: "simulated" }
  | { readonly kind: "process" }
  | { readonly kind: "cri"; readonly endpoint: string };

export interface AgentEndpointOptions extends Address {
  /** Address of `/healthz` without TLS; undefined for none. */
  readonly healthAddress: Address | undefined;
  /** Address without TLS where anyone may read pods, statistics and metrics; undefined for none. */
  readonly readOnlyAddress: Address | undefined;
  readonly certificate: ServingCertificateChoice;
  /** Authorities of clients; the kubeconfig's by default. */
  readonly clientCaFile: string | undefined;
  readonly hasDebuggingHandlers: boolean;
  readonly anonymous: boolean;
  readonly tokenWebhook: boolean;
  readonly tokenTtlMs: number;
  readonly authorizationMode: "Webhook" | "AlwaysAllow";
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

export type ServingCertificateChoice =
  | { readonly kind: "files"; readonly certificate: string; readonly key: string }
  /** Signed by the machine itself. */
  | { readonly kind: "own" }
  /** Requested from the cluster, and renewed. */
  | { readonly kind: "cluster" };
