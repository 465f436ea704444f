import type { ContainerState } from "../runtime.ts";
import { containerStates } from "./enums.ts";
import type { Message } from "./messages.ts";

const nanosPerMs = 1_000_000;

export function msOf(nanoseconds: number): number {
  return Math.floor(nanoseconds / nanosPerMs);
}

/** Returns the state of a container. `message` is what it left when it ended. */
export function containerState(status: Message<"ContainerStatus">, message: string): ContainerState {
  const startedAtMs = msOf(status.startedAt);
  switch (status.state) {
    case containerStates.created:
      return { kind: "created" };
    case containerStates.running:
      return { kind: "running", startedAtMs };
    case containerStates.exited: {
      const texts = [status.message, message].filter((text) => text !== "");
      const { exitCode } = status;
      const reason = status.reason === "" ? (exitCode === 0 ? "Completed" : "Error") : status.reason;
      return {
        kind: "exited",
        startedAtMs,
        finishedAtMs: msOf(status.finishedAt),
        exitCode,
        reason,
        message: texts.join(": "),
      };
    }
    default:
      return { kind: "unknown" };
  }
}
