import { isJsonObject, type JsonObject } from "../../../api/json.ts";

/** Of containers of every sort. */
export function defaultContainer(container: JsonObject): void {
  container["imagePullPolicy"] ??= pullPolicyOf(container["image"]);
  container["terminationMessagePath"] ??= "/dev/termination-log";
  container["terminationMessagePolicy"] ??= "File";
}

/** A tag that moves is pulled each time; a missing tag means `latest`, unless a digest pins the image. */
export function pullPolicyOf(image: unknown): "Always" | "IfNotPresent" {
  if (typeof image !== "string" || image === "") return "IfNotPresent";
  const digestAt = image.indexOf("@");
  const name = digestAt < 0 ? image : image.slice(0, digestAt);
  const tagAt = name.indexOf(":", name.lastIndexOf("/") + 1);
  if (tagAt < 0) return digestAt < 0 ? "Always" : "IfNotPresent";
  return name.slice(tagAt + 1) === "latest" ? "Always" : "IfNotPresent";
}

/** The objects of a list field; empty when it is absent. */
export function objectsOf(owner: JsonObject, field: string): JsonObject[] {
  const list = owner[field];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
