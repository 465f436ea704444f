import type { Registry } from "prom-client";
import { sha256Text } from "../../api/sha256-text.ts";
import { BoundCounter } from "./bound-metric.ts";

const msPerSecond = 1_000;

/** Registers the metrics of reloads of a configuration file; returns a function that counts one. */
export function reloadMetrics(
  registry: Registry,
  of: "authentication" | "authorization" | "encryption",
  serverId: string,
): (isUsed: boolean) => void {
  const prefix = `apiserver_${of}_config_controller_automatic_reload`;
  const total = new BoundCounter(`${prefix}s_total`, `Reloads of the ${of} configuration, by success.`);
  const last = new BoundCounter(
    `${prefix}_last_timestamp_seconds`,
    `Time of the last reload of the ${of} configuration, by success.`,
    "gauge",
  );
  for (const family of [total, last]) family.register(registry);
  const children = (status: string) => {
    const labels = { status, apiserver_id_hash: sha256Text(serverId) };
    return { total: total.labels(labels), last: last.labels(labels) };
  };
  const [used, refused] = [children("success"), children("failure")];
  return (isUsed) => {
    const child = isUsed ? used : refused;
    child.total.value++;
    child.last.value = Date.now() / msPerSecond;
  };
}
