import type { Registry } from "prom-client";
import { exposeMetrics } from "./exposition.ts";

/** Returns the text of all metrics of a registry. */
export async function metricsText(registry: Registry): Promise<string> {
  return Buffer.concat(await exposeMetrics(registry)).toString();
}
