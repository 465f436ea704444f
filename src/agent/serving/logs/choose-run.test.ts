import { describe, expect, test } from "bun:test";
import type { ContainerStatus } from "../../../api/types/core-v1.ts";
import { runningPod, scriptedRuntime } from "../testing.ts";
import { chooseRun } from "./choose-run.ts";

const terminated = (id: string) => ({ exitCode: 1, ...(id === "" ? {} : { containerID: `scripted://${id}` }) });

/** Returns the id of the chosen run, or the refusal. */
function chosen(status: Partial<ContainerStatus> | undefined, previous = false): string {
  const base = { name: "main", image: "i", imageID: "", ready: false, restartCount: 1 };
  const known = runningPod(scriptedRuntime(), "web", {
    status: { containerStatuses: status === undefined ? [] : [{ ...base, ...status }] },
  });
  const [main] = known.containers;
  if (main === undefined) throw new Error("the pod has no container");
  const runs = ["before", "now"].map((id, attempt) => ({ ...main, id, attempt }));
  try {
    return chooseRun({ ...known, containers: runs }, "main", previous).id;
  } catch (error) {
    return (error as Error).message;
  }
}

const what = 'container "main" in pod "web"';

describe("the current run", () => {
  test.each([
    ["is the one that runs", { state: { running: {} }, containerID: "scripted://now" }, "now"],
    ["may have ended", { state: { terminated: terminated("now") } }, "now"],
    [
      "is the one before if the last never started",
      { state: { terminated: terminated("") }, lastState: { terminated: terminated("before") } },
      "before",
    ],
    [
      "is the one before while the next waits",
      { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: terminated("before") } },
      "before",
    ],
    ["has no id", { state: { terminated: terminated("") } }, `${what} is terminated`],
    [
      "and the one before have no id",
      { state: { waiting: {} }, lastState: { terminated: terminated("") } },
      `${what} is terminated`,
    ],
    ["has no status", undefined, `${what} is not available`],
    ["is forgotten by the runtime", { state: { terminated: terminated("gone") } }, `${what} is not available`],
    ["has no state", {}, `${what} is waiting to start - no logs yet`],
    [
      "waits",
      { state: { waiting: { reason: "ContainerCreating" } } },
      `${what} is waiting to start: ContainerCreating`,
    ],
    [
      "waits for its image",
      { state: { waiting: { reason: "ErrImagePull" } } },
      `${what} is waiting to start: image can't be pulled`,
    ],
    [
      "waits longer for its image",
      { state: { waiting: { reason: "ImagePullBackOff" } } },
      `${what} is waiting to start: trying and failing to pull image`,
    ],
  ])("%s", (_, status, expected) => {
    expect(chosen(status)).toBe(expected);
  });
});

describe("the run before", () => {
  test.each([
    ["is known", { state: { running: {} }, lastState: { terminated: terminated("before") } }, "before"],
    ["does not exist", { state: { running: {} } }, `previous terminated ${what} not found`],
    ["is forgotten", { lastState: { terminated: terminated("gone") } }, `previous terminated ${what} not found`],
  ])("%s", (_, status, expected) => {
    expect(chosen(status, true)).toBe(expected);
  });
});
