import type { JsonObject } from "../../../api/json.ts";
import { imageTagOf } from "./image-name.ts";

/** Fills in containers of every sort. */
export function defaultContainer(container: JsonObject): void {
  container["imagePullPolicy"] ??= pullPolicyOf(container["image"]);
  container["terminationMessagePath"] ??= "/dev/termination-log";
  container["terminationMessagePolicy"] ??= "File";
}

/** A tag that moves is pulled each time. */
export function pullPolicyOf(image: unknown): "Always" | "IfNotPresent" {
  return typeof image === "string" && imageTagOf(image) === "latest" ? "Always" : "IfNotPresent";
}
