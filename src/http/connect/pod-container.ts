import type { JsonObject } from "../../api/json.ts";
import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";

/**
 * Returns the requested container of a pod, or its only one.
 * @throws StatusError 400 if the container does not exist, or none is named and there are several
 */
export function containerOf(pod: KubeObject, asked: string): string {
  const spec = objectOf((pod as JsonObject)["spec"]);
  const name = pod.metadata.name ?? "";
  const namesIn = (list: string) => objectsOf(spec[list]).map((container) => textOf(container["name"]));
  const [containers, initContainers] = [namesIn("containers"), namesIn("initContainers")];
  if (asked !== "") {
    if ([...containers, ...initContainers, ...namesIn("ephemeralContainers")].includes(asked)) return asked;
    throw status.badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0) return only;
  const choice = containers.length === 0 ? "" : `, choose one of: [${containers.join(" ")}]`;
  const initial = initContainers.length === 0 ? "" : ` or one of the init containers: [${initContainers.join(" ")}]`;
  throw status.badRequest(`a container name must be specified for pod ${name}${choice}${choice === "" ? "" : initial}`);
}
