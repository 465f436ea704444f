import type { LifecycleHandler, Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Runtime, RuntimeId } from "../runtime/runtime.ts";
import { type PodContainer, podText } from "./pod-containers.ts";
import { httpTarget, requestTarget } from "./probes/http-target.ts";
import { runInContainer } from "./run-in-container.ts";

/** Time after which a request of a hook is given up. A command runs until it ends or its container does. */
const requestMsMax = 30_000;

/** Runs a hook of a running container. Returns why it failed, or undefined. The signal ends its command. */
export type RunHook = (
  pod: Pod,
  container: PodContainer,
  id: RuntimeId,
  hook: LifecycleHandler,
  signal?: AbortSignal,
) => Promise<string | undefined>;

export interface HookParts {
  readonly runtime: Pick<Runtime, "exec">;
  readonly clock: Clock;
  /** Returns the address at which the agent reaches a pod. */
  readonly addressOf: (pod: Pod) => string | undefined;
}

export function hookRunner({ runtime, clock, addressOf }: HookParts): RunHook {
  return async (pod, { spec }, id, { exec, httpGet, sleep }, signal) => {
    const place = `for Container ${JSON.stringify(spec.name)} in Pod ${JSON.stringify(podText(pod))}`;
    if (sleep !== undefined) {
      await new Promise<void>((resolve) => clock.after(Number(sleep.seconds) * 1_000, resolve));
      return undefined;
    }
    if (exec !== undefined) {
      const command = exec.command ?? [];
      const { exitCode, output } = await runInContainer(runtime, id, command, signal && { signal }).catch(
        (error: unknown) => ({
          exitCode: thrownText(error),
          output: "",
        }),
      );
      if (exitCode === 0) return undefined;
      const error = typeof exitCode === "string" ? exitCode : `command '${command.join(" ")}' exited with ${exitCode}`;
      const hook = `Exec lifecycle hook ([${command.join(" ")}])`;
      return `${hook} ${place} failed - error: ${error}: ${output}, message: ${JSON.stringify(output)}`;
    }
    if (httpGet === undefined) return "Cannot run handler: invalid handler";
    try {
      const target = httpTarget(httpGet, spec, addressOf(pod), "kube-lifecycle");
      await requestTarget(target, requestMsMax);
      return undefined;
    } catch (error) {
      return `HTTP lifecycle hook (${httpGet.path ?? ""}) ${place} failed - error: ${thrownText(error)}`;
    }
  };
}
