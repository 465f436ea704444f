import { join } from "node:path";
import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../process/clock.ts";
import { StartupError } from "../../../process/startup-error.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { CriRuntime } from "./cri-runtime.ts";
import type { DnsOptions } from "./dns-config.ts";
import { runtimeHandler } from "./runtime-handler.ts";

/** Defaults of kubelet's configuration. */
const timeoutMs = 2 * 60_000;
const logLimits = { bytesMax: 10 * 1024 * 1024, filesMax: 5 };
const resolvConf = "/etc/resolv.conf";

export interface OpenCriOptions {
  readonly endpoint: string;
  readonly rootDirectory: string;
  /** Directory of the logs of all pods. */
  readonly logDirectory: string;
  readonly dns: DnsOptions;
  readonly client: Pick<Client, "get">;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Connects to a container runtime, with kubelet's defaults. @throws StartupError */
export async function openCriRuntime(options: OpenCriOptions): Promise<CriRuntime> {
  try {
    return await CriRuntime.open({
      ...options,
      timeoutMs,
      logLimits,
      resolvConf,
      security: { seccompRoot: join(options.rootDirectory, "seccomp"), seccompDefault: false },
      cgroupDriver: "cgroupfs",
      handlerOf: (className) => runtimeHandler(options.client, className),
    });
  } catch (error) {
    const remedy = "start the runtime, or name its socket with --container-runtime-endpoint";
    throw new StartupError(`cannot use the container runtime at ${options.endpoint}: ${thrownText(error)}; ${remedy}`);
  }
}
