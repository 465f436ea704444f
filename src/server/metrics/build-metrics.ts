import type { Registry } from "prom-client";
import { versionInfo } from "../../http/version.ts";
import { CollectedFamily } from "./bound-metric.ts";
import type { Sample } from "./exposition.ts";
import { stabilityOf } from "./stability.ts";

/** Registers families that describe the program and its metrics. They are constant while it runs. */
export function buildMetrics(registry: Registry): void {
  const version = versionInfo();
  const build = {
    build_date: version.buildDate,
    compiler: version.compiler,
    git_commit: version.gitCommit,
    git_tree_state: version.gitTreeState,
    git_version: version.gitVersion,
    go_version: version.goVersion,
    major: version.major,
    minor: version.minor,
    platform: version.platform,
  };
  const compatibility = {
    component: "kube",
    binary: version.gitVersion.slice(1).split("+")[0] ?? "",
    emulation: `${version.emulationMajor}.${version.emulationMinor}`,
    min_compat: `${version.minCompatibilityMajor}.${version.minCompatibilityMinor}`,
  };
  const families: readonly [name: string, help: string, type: "counter" | "gauge", samples: () => Sample[]][] = [
    ["kubernetes_build_info", "Constant 1, with the version of the program as labels.", "gauge", () => [[build, 1]]],
    [
      "version_info",
      "Constant 1, with the versions that the server is compatible with.",
      "gauge",
      () => [[compatibility, 1]],
    ],
    ["registered_metrics_total", "Metric families, by stability.", "counter", () => gradedFamilies(registry)],
    [
      "hidden_metrics_total",
      "Metric families that are hidden because they are deprecated.",
      "counter",
      () => [[{}, 0]],
    ],
    ["disabled_metrics_total", "Metric families that are disabled.", "counter", () => [[{}, 0]]],
  ];
  for (const [name, help, type, samples] of families) new CollectedFamily(name, help, type, samples).register(registry);
}

function gradedFamilies(registry: Registry): Sample[] {
  const counts = new Map<string, number>();
  for (const { name } of registry.getMetricsAsArray()) {
    const stability = stabilityOf(name);
    if (stability !== undefined) counts.set(stability, (counts.get(stability) ?? 0) + 1);
  }
  return [...counts].map(([stability, count]) => [{ stability_level: stability, deprecated_version: "" }, count]);
}
