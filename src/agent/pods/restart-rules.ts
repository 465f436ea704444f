import type { Container, ContainerRestartRule, Pod } from "../../api/types/core-v1.ts";
import type { RuntimeContainer } from "../runtime/runtime.ts";

/** Reports whether a container that ended with this code starts again. */
export function restartsAfter(container: Container, pod: Pod, exitCode: number): boolean {
  if (container.restartPolicyRules?.some((rule) => matches(rule, exitCode))) return true;
  switch (container.restartPolicy ?? pod.spec?.restartPolicy) {
    case "Never":
      return false;
    case "OnFailure":
      return exitCode !== 0;
    default:
      return true;
  }
}

/** Reports whether a container that the agent stops, as after a failed probe, starts again. */
export function restartsWhenStopped(container: Container, pod: Pod): boolean {
  return (container.restartPolicy ?? pod.spec?.restartPolicy) !== "Never";
}

/** Reports whether a container has to be started, given its latest run. */
export function mustStart(container: Container, pod: Pod, latest: RuntimeContainer | undefined): boolean {
  switch (latest?.state.kind) {
    case "running":
      return false;
    case "exited":
      return restartsAfter(container, pod, latest.state.exitCode);
    default:
      return true;
  }
}

function matches({ exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  const isListed = exitCodes?.values?.includes(exitCode) ?? false;
  return exitCodes?.operator === "NotIn" ? !isListed : isListed;
}
