import { TextError } from "../../../api/status.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import type { Reply } from "../../../request/exchange.ts";
import type { PodDirectory } from "../../pods/pod-directory.ts";
import type { ContainerStats } from "../../runtime/runtime.ts";
import { jsonReply } from "../json-reply.ts";
import type { RouteCall } from "../route.ts";
import { CpuRates, type CpuSample } from "./cpu-rates.ts";
import { exposition, expositionType } from "./exposition.ts";
import { measurePods } from "./measured-pods.ts";
import type { NodeStats } from "./node-stats.ts";
import { containerMetrics, resourceMetrics } from "./resource-metrics.ts";
import { summary } from "./summary.ts";

/** Answers requests for the use of CPU, memory and disks. */
export class StatsHandlers {
  readonly #directory: PodDirectory;
  readonly #nodeStats: () => Promise<NodeStats>;
  readonly #rates = new CpuRates();

  constructor(directory: PodDirectory, nodeStats: () => Promise<NodeStats>) {
    this.#directory = directory;
    this.#nodeStats = nodeStats;
  }

  /** @throws TextError 500 if a runtime does not answer */
  async summary({ target, nodeName }: RouteCall): Promise<Reply> {
    const [node, pods] = await Promise.all([this.#nodeStats(), this.#measure(nodeName)]);
    const { timeMs, cpuNanoseconds = 0 } = node;
    const samples = pods.flatMap(({ containers }) => containers.map(cpuSample));
    const rates = this.#rates.update([{ id: "", timeMs, cpuNanoseconds }, ...samples], timeMs);
    const onlyCpuAndMemory = target.query.get("only_cpu_and_memory") === "true";
    return jsonReply(summary({ nodeName, node, pods, rates, onlyCpuAndMemory }));
  }

  async resourceMetrics({ nodeName }: RouteCall): Promise<Reply> {
    const [node, pods] = await Promise.all([
      this.#nodeStats(),
      measurePods(this.#directory, nodeName).catch(() => undefined),
    ]);
    return metricsReply(exposition(resourceMetrics(node, pods)));
  }

  /** @throws TextError 500 if a runtime does not answer */
  async containerMetrics({ nodeName }: RouteCall): Promise<Reply> {
    const [node, pods] = await Promise.all([this.#nodeStats(), this.#measure(nodeName)]);
    return metricsReply(exposition(containerMetrics(node, pods)));
  }

  #measure(nodeName: string): ReturnType<typeof measurePods> {
    return measurePods(this.#directory, nodeName).catch((error) => {
      throw new TextError(500, thrownText(error));
    });
  }
}

function cpuSample({ containerId, timeMs, cpuNanoseconds }: ContainerStats): CpuSample {
  return { id: containerId, timeMs, cpuNanoseconds };
}

export function metricsReply(text: string): Reply {
  return { kind: "reply", code: 200, headers: [["content-type", expositionType]], body: Buffer.from(text) };
}
