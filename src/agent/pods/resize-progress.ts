import type { Pod } from "../../api/types/core-v1.ts";
import type { Rejection } from "./admit-pod.ts";
import type { Condition } from "./pod-conditions.ts";
import type { PodEvent } from "./pod-recorder.ts";
import { resizeText } from "./resize.ts";

/** How far a change of the resources of a running pod has come, as its conditions and Events tell. */
export class ResizeProgress {
  readonly #record: (pod: Pod, event: PodEvent) => void;
  #stage: "none" | "pending" | "started" = "none";
  #generation = 0;
  #message = "";

  constructor(record: (pod: Pod, event: PodEvent) => void) {
    this.#record = record;
  }

  /** Whether the node has no room for the change yet. */
  get isPending(): boolean {
    return this.#stage === "pending";
  }

  get conditions(): readonly Condition[] {
    if (this.#stage === "none") return [];
    if (this.#stage === "pending") {
      return [{ type: "PodResizePending", status: "True", reason: "Deferred", message: this.#message }];
    }
    const error = this.#message === "" ? {} : { reason: "Error", message: this.#message };
    return [{ type: "PodResizeInProgress", status: "True", ...error }];
  }

  /** Notes whether the pod is to change, and what keeps the node from changing it. */
  update(pod: Pod, isResizing: boolean, rejection: () => Rejection | undefined): void {
    if (!isResizing) {
      if (this.#stage === "started") this.#tell(pod, "Normal", "ResizeCompleted", "Pod resize completed");
      this.#stage = "none";
      this.#message = "";
      return;
    }
    const generation = Number(pod.metadata.generation ?? 0);
    const isNews = this.#stage === "none" || this.#generation !== generation;
    if (!isNews && this.#stage === "started") return;
    this.#generation = generation;
    const problem = rejection();
    if (problem !== undefined) {
      this.#message = problem.message;
      if (isNews) this.#tell(pod, "Warning", "ResizeDeferred", "Pod resize Deferred", problem.message);
      this.#stage = "pending";
      return;
    }
    this.#message = "";
    this.#stage = "started";
    this.#tell(pod, "Normal", "ResizeStarted", "Pod resize started");
  }

  failed(pod: Pod, message: string): void {
    if (this.#message === message) return;
    this.#message = message;
    this.#tell(pod, "Warning", "ResizeError", "Pod resize error", message);
  }

  #tell(pod: Pod, type: PodEvent["type"], reason: string, title: string, error = ""): void {
    this.#record(pod, { type, reason, message: resizeText(title, pod, error) });
  }
}
