import type { ResourceList, Taint } from "../../api/types/core-v1.ts";
import { type EvictionThresholds, evictionHardDefault, parseEvictionThresholds } from "./eviction-thresholds.ts";

/** The configuration of one node. */
export interface NodeSettings {
  readonly name: string;
  /** Value of the label `kubernetes.io/hostname`, and the address of type Hostname. */
  readonly hostname: string;
  /** False if someone else creates the Node. */
  readonly registers: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Taints of a new Node. */
  readonly taints: readonly Taint[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly providerId: string | undefined;
  readonly podsMax: number;
  /** Resources that pods cannot have. */
  readonly reserved: ResourceList;
  /** Limits whose amounts pods cannot have either. */
  readonly evictionHard: EvictionThresholds;
  /** Addresses to report instead of the machine's own. */
  readonly addresses: readonly string[] | undefined;
  /** Port of the agent's HTTPS endpoint; undefined if it has none. */
  readonly port: number | undefined;
  readonly version: string;
  readonly declaredFeatures: readonly string[];
  /** Interval of the status checks. */
  readonly statusUpdateMs: number;
  /** Time after which a status is reported even if nothing has changed. */
  readonly statusReportMs: number;
  readonly leaseDurationSeconds: number;
}

/** Upstream's defaults. */
export const nodeDefaults = {
  registers: true,
  labels: {},
  taints: [],
  annotations: {},
  providerId: undefined,
  podsMax: 110,
  reserved: {},
  evictionHard: parseEvictionThresholds(evictionHardDefault),
  addresses: undefined,
  port: 10_250,
  declaredFeatures: [],
  statusUpdateMs: 10_000,
  statusReportMs: 300_000,
  leaseDurationSeconds: 40,
} as const satisfies Partial<NodeSettings>;
